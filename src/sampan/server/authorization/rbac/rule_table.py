"""`RuleTable`: the rules of one role, ready for questions about one resource or path."""

from collections.abc import Iterable
from typing import Final

from sampan.core.policy_rules import ALL, Rule, strings

Names = frozenset[str] | None
"""The names that something is allowed for; None: all names, and where there is no name."""

NO_NAMES: Final[frozenset[str]] = frozenset()

Words = frozenset[str] | None
"""What a part of a rule is limited to; None: nothing, it says `*`."""

Entry = tuple[Words, Words, Names]
"""The verbs, groups and names of a rule."""


class RuleTable:
    """Finds the few rules that speak of a resource without looking at all of them."""

    __slots__ = ("by_resource", "path_rules")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.path_rules: list[Rule] = []
        self.by_resource: dict[str, list[Entry]] = {}
        """The rules by a resource as they name it: `pods`, `pods/log`, `*/scale`, `*`."""
        for rule in rules:
            if rule.get("nonResourceURLs"):
                self.path_rules.append(rule)
            resources = rule.get("resources")
            if resources:
                entry = (
                    _words(rule, "verbs"),
                    _words(rule, "apiGroups"),
                    frozenset(strings(rule, "resourceNames")) or None,
                )
                for resource in resources:
                    self.by_resource.setdefault(resource, []).append(entry)

    def names(self, verb: str, group: str, keys: tuple[str, ...]) -> Names:
        """For which names a verb is allowed on a resource, which is given by its `resource_keys`."""
        found = NO_NAMES
        by_resource = self.by_resource
        for key in keys:
            for verbs, groups, names in by_resource.get(key, ()):
                if (verbs is None or verb in verbs) and (groups is None or group in groups):
                    if names is None:
                        return None
                    found |= names
        return found


def resource_keys(resource: str, subresource: str) -> tuple[str, ...]:
    """How rules may name a resource."""
    return (f"{resource}/{subresource}", f"*/{subresource}", ALL) if subresource else (resource, ALL)


def _words(rule: Rule, name: str) -> Words:
    words = strings(rule, name)
    return None if ALL in words else frozenset(words)
