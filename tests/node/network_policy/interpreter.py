"""Interpreter of the rules that the model generates: a small part of nftables, on the tables of `FakeTable`."""

import ipaddress
import re
from dataclasses import dataclass, field

from tests.node.network_policy.oracle import Connection
from tests.service_proxy.fake_nft import FakeTable

ON_BRIDGE = ("10.1.0.0/24", "fd00:1::/64", "fe80::/10", "ff00::/8")
"""Addresses of packets that come from the bridge of Pods, or go to it."""
_HOOK = re.compile(r"\{ type filter hook forward priority (\d+); policy accept; \}")


@dataclass
class PolicyTable(FakeTable):
    """Table that remembers the priority of its base chains."""

    priorities: dict[str, int] = field(default_factory=dict)

    def _add_chain(self, name: str, text: str) -> None:
        super()._add_chain(name, text)
        found = _HOOK.search(text)
        if found:
            self.priorities[name] = int(found[1])

    def passes(self, connection: Connection) -> bool:
        """Return True if the first packet of a connection passes all base chains."""
        bases = sorted(self.priorities, key=lambda name: self.priorities[name])
        return all(self._verdict(name, connection) != "drop" for name in bases)

    def _verdict(self, chain: str, packet: Connection) -> str:
        """Return accept or drop; empty at the end of a chain."""
        for rule in self.chains[chain]:
            found = self._rule(re.sub(r' comment ".*"', "", rule).split(), packet)
            if found:
                return found
        return ""

    def _rule(self, words: list[str], packet: Connection) -> str:
        words = list(words)
        while words:
            word = words[0]
            if word in ("accept", "drop"):
                return word
            if word in ("goto", "jump"):
                return self._verdict(words[1], packet) or ("accept" if word == "goto" else "")
            if word == "counter":
                words = words[1:]
            elif not self._condition(words, packet):
                return ""
            if words and words[0].startswith("found:"):
                return self._rule(words[0].removeprefix("found:").split(" "), packet)
        return ""

    def _condition(self, words: list[str], packet: Connection) -> bool:
        """Remove a condition from the words, and return True if the packet meets it."""
        if words[0] in ("ct", "icmpv6"):
            words.clear()  # Replies and messages of ICMP, which no test sends.
            return False
        if words[0] in ("iifname", "oifname"):
            address = packet.source if words[0] == "iifname" else packet.destination
            del words[:2]
            return any(ipaddress.ip_address(address) in ipaddress.ip_network(each) for each in ON_BRIDGE)
        names = [self._name(words)]
        while words and words[0] == ".":
            del words[0]
            names.append(self._name(words))
        if words[0] == "vmap":
            values = self.sets[words[1].removeprefix("@")]
            key = _value(names[0], packet)
            verdict = values.get(key or "")
            words[:] = [f"found:{verdict}"] if verdict else []
            return bool(verdict)
        negated = words[0] == "!="
        if negated:
            del words[0]
        values_of = [_value(each, packet) for each in names]
        if None in values_of:
            self._operand(words)
            return False
        text = " . ".join(str(each) for each in values_of)
        return any(_covers(each, text) for each in self._operand(words)) != negated

    def _operand(self, words: list[str]) -> list[str]:
        if words[0].startswith("@"):
            return list(self.sets[words.pop(0).removeprefix("@")])
        if words[0] != "{":
            return [words.pop(0)]
        end = words.index("}")
        found = " ".join(words[1:end]).split(", ")
        del words[: end + 1]
        return found

    def _name(self, words: list[str]) -> str:
        name = " ".join(words[:2])
        del words[:2]
        return name


def _value(name: str, packet: Connection) -> str | None:
    """Return a field of a packet; None if it has no such field."""
    family = "ip6" if ":" in packet.source else "ip"
    protocol = packet.protocol.lower()
    fields = {
        f"{family} saddr": packet.source,
        f"{family} daddr": packet.destination,
        "meta l4proto": protocol,
        "th dport": str(packet.port),
        f"{protocol} dport": str(packet.port),
    }
    return fields.get(name)


def _covers(element: str, value: str) -> bool:
    if element == value:
        return True
    if "/" in element:
        return ipaddress.ip_address(value) in ipaddress.ip_network(element)
    first, dash, last = element.partition("-")
    return bool(dash) and first.isdigit() and value.isdigit() and int(first) <= int(value) <= int(last)
