"""A table of nftables in memory. Like the kernel, it refuses references to nothing and removal of what is in use."""

import re
from dataclasses import dataclass, field

_REFERENCE = re.compile(r"(?:goto|jump) ([a-z][^\s,}]*)|@([a-z][^\s,}]*)")


@dataclass
class FakeTable:
    """Chains, sets and elements of one table."""

    chains: dict[str, list[str]] = field(default_factory=dict)
    sets: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, commands: str) -> None:
        """Run a transaction; raises `AssertionError` for what the kernel refuses."""
        for line in commands.splitlines():
            verb, kind, _family, _table, *rest = line.split(" ")
            getattr(self, f"_{verb}_{kind}")(*_name_and_text(rest))
        self._check()

    def _add_table(self, name: str, text: str) -> None:
        pass

    def _delete_table(self, name: str, text: str) -> None:
        self.chains.clear()
        self.sets.clear()

    def _add_set(self, name: str, text: str) -> None:
        assert name not in self.sets
        self.sets[name] = {}

    _add_map = _add_set

    def _delete_set(self, name: str, text: str) -> None:
        del self.sets[name]

    def _add_chain(self, name: str, text: str) -> None:
        assert name not in self.chains
        self.chains[name] = []

    def _flush_chain(self, name: str, text: str) -> None:
        self.chains[name] = []

    def _delete_chain(self, name: str, text: str) -> None:
        assert self.chains.pop(name) == []

    def _add_rule(self, name: str, text: str) -> None:
        self.chains[name].append(text)
        self._check_text(text)

    def _add_element(self, name: str, text: str) -> None:
        for item in text.strip("{} ").split(", "):
            key, _, value = item.partition(" : ")
            assert key not in self.sets[name], f"{key} is in {name}"
            self.sets[name][key] = value
            self._check_text(value)

    def _delete_element(self, name: str, text: str) -> None:
        for key in text.strip("{} ").split(", "):
            del self.sets[name][key]

    def _check(self) -> None:
        for text in [rule for rules in self.chains.values() for rule in rules]:
            self._check_text(text)
        for text in [value for elements in self.sets.values() for value in elements.values()]:
            self._check_text(text)

    def _check_text(self, text: str) -> None:
        for chain, name in _REFERENCE.findall(text):
            assert not chain or chain in self.chains, f"no chain {chain}"
            assert not name or name in self.sets, f"no set {name}"


def _name_and_text(words: list[str]) -> tuple[str, str]:
    return (words[0], " ".join(words[1:])) if words else ("", "")
