"""`accept_forwarding`: lets packets of Pods pass firewalls whose chain for forwarded packets drops by default.

Docker sets the policy of iptables' chain FORWARD to DROP, and so do some firewalls. A rule of another chain cannot
accept what such a chain drops, so the rules are added to the chain itself: at its end, because rules before them, such
as network policies of other programs, must decide first.
Source: flannel pkg/trafficmngr/iptables `ForwardRules`; nft(8) "verdict statements"; iptables(8).
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.node.programs import run

MARK: Final = "sampan-pods"
"""Comment of the rules of this program."""
_OWN_TABLES: Final = ("sampan-pods", "sampan-proxy", "sampan-netpol")
_FAMILIES: Final = ("ip", "ip6", "inet")
_RULE: Final = re.compile(rf'(ip6?) (saddr|daddr) (\S+) .*accept comment "{MARK}" # handle (\d+)\Z')
_REFUSES_ALL: Final = re.compile(r"(counter packets \d+ bytes \d+ )?(drop|reject)\b")
_LEGACY: Final = (("ip", "iptables-legacy"), ("ip6", "ip6tables-legacy"))


@dataclass(frozen=True, slots=True)
class _Chain:
    """Chain of nftables for forwarded packets."""

    family: str
    table: str
    name: str
    drops: bool

    @property
    def path(self) -> tuple[str, str, str]:
        return self.family, self.table, self.name

    def __str__(self) -> str:
        return f"chain {self.family} {self.table} {self.name}"


async def accept_forwarding(networks: Iterable[str], proc: Path = Path("/proc/net")) -> list[str]:
    """Accept packets from and to networks in each chain that drops by default. Returns what is in the way.

    Raises `OSError`.
    """
    desired = set(networks)
    problems = []
    for chain in await _chains():
        problems += await _keep(chain, desired if chain.drops else set())
    for family, program in _LEGACY:
        if _has_legacy_rules(proc, family):
            await _keep_legacy(program, _of_family(desired, family))
    return problems


async def remove_acceptance(proc: Path = Path("/proc/net")) -> None:
    """Remove the rules. Raises `OSError`."""
    await accept_forwarding((), proc)


async def _chains() -> list[_Chain]:
    """Return the chains of other programs through which all forwarded packets pass."""
    listed: dict[str, Any] = json.loads(await run("nft", "-j", "list", "chains"))
    chains = [each["chain"] for each in listed["nftables"] if "chain" in each]
    return [
        _Chain(each["family"], each["table"], each["name"], each.get("policy") == "drop")
        for each in chains
        if each.get("hook") == "forward" and each["family"] in _FAMILIES and each["table"] not in _OWN_TABLES
    ]


async def _keep(chain: _Chain, networks: set[str]) -> list[str]:
    """Add and remove rules of a chain of nftables."""
    lines = [line.strip() for line in (await run("nft", "-a", "list", "chain", *chain.path)).splitlines()]
    current: dict[tuple[str, str, str], str] = {}
    last = ""
    for line in lines:
        found = _RULE.match(line)
        if found is not None:
            current[found[1], found[2], found[3]] = found[4]
        elif "# handle" in line and "{" not in line:
            last = line
    families = (chain.family,) if chain.family != "inet" else ("ip", "ip6")
    desired = {
        (family, side, network)
        for family in families
        for network in _of_family(networks, family)
        for side in ("saddr", "daddr")
    }
    place = " ".join(chain.path)
    commands = [f"delete rule {place} handle {current[key]}" for key in sorted(current.keys() - desired)]
    commands += [
        f'add rule {place} {family} {side} {network} counter accept comment "{MARK}"'
        for family, side, network in sorted(desired - current.keys())
    ]
    if commands:
        await run("nft", "-f", "-", text="\n".join([*commands, ""]))
    if desired and _REFUSES_ALL.match(last):
        return [f"{chain} of nftables refuses packets of Pods: allow forwarding from and to {', '.join(networks)}"]
    return []


def _has_legacy_rules(proc: Path, family: str) -> bool:
    """Return True if the older iptables of the kernel filters packets. Its program must not be called otherwise: it
    would load the module.
    """
    try:
        return "filter" in (proc / f"{family}_tables_names").read_text().split()
    except OSError:
        return False


async def _keep_legacy(program: str, networks: Sequence[str]) -> None:
    lines = (await run(program, "-w", "-S", "FORWARD")).splitlines()
    mark = ("-m", "comment", "--comment", MARK, "-j", "ACCEPT")
    desired = [(side, network) for network in networks for side in ("-s", "-d")]
    desired = desired if "-P FORWARD DROP" in lines else []
    current = {(words[2], words[3]) for words in map(str.split, lines) if MARK in words and len(words) > 3}
    for side, network in sorted(current - set(desired)):
        await run(program, "-w", "-D", "FORWARD", side, network, *mark)
    for side, network in desired:
        if (side, network) not in current:
            await run(program, "-w", "-A", "FORWARD", side, network, *mark)


def _of_family(networks: Iterable[str], family: str) -> list[str]:
    return sorted(each for each in networks if (":" in each) == (family == "ip6"))
