"""`RuleTable`: the rules of one role, indexed by resource and path."""

from collections.abc import Iterable
from typing import Final

from sampan.core.policy_rules import ALL, Rule, strings

Names = frozenset[str] | None
"""Names to which a rule applies. None for all names and for requests without a name."""

NO_NAMES: Final[frozenset[str]] = frozenset()

Words = frozenset[str] | None
"""Values of a field of a rule. None for `*`."""

Entry = tuple[Words, Words, Names]
"""Verbs, groups and names of a rule."""


class RuleTable:
    """Finds the rules for a resource without a search through all rules."""

    __slots__ = ("by_resource", "path_rules")

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.path_rules: list[Rule] = []
        self.by_resource: dict[str, list[Entry]] = {}
        """Entries by resource, in the notation of rules: `pods`, `pods/log`, `*/scale`, `*`."""
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
        """Return the names for which a verb is allowed. `keys` are the `resource_keys` of the resource."""
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
    """Return the values of `resources` in rules that match a resource."""
    return (f"{resource}/{subresource}", f"*/{subresource}", ALL) if subresource else (resource, ALL)


def _words(rule: Rule, name: str) -> Words:
    words = strings(rule, name)
    return None if ALL in words else frozenset(words)
