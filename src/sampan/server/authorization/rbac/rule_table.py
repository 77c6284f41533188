"""`RuleTable`: many rules, ready for questions about one resource or path."""

from collections.abc import Iterable
from typing import Generic, TypeVar

from sampan.core.policy_rules import ALL, Rule, path_rule_allows, resource_rule_allows, strings

Source = TypeVar("Source")

Names = frozenset[str] | None
"""The names that a rule is limited to; None: it is not."""


class RuleTable(Generic[Source]):
    """Finds the few rules that speak of a resource without looking at all of them. Each rule has a source."""

    __slots__ = ("_by_resource", "_path_rules")

    def __init__(self, rules: Iterable[tuple[Rule, Source]]) -> None:
        self._path_rules: list[tuple[Rule, Source]] = []
        self._by_resource: dict[str, list[tuple[int, Rule, Source]]] = {}
        for number, (rule, source) in enumerate(rules):
            if rule.get("nonResourceURLs"):
                self._path_rules.append((rule, source))
            for resource in rule.get("resources") or ():
                self._by_resource.setdefault(resource, []).append((number, rule, source))

    def allowing_path(self, verb: str, path: str) -> Source | None:
        """The source of the first rule that allows a verb on a path."""
        return next((source for rule, source in self._path_rules if path_rule_allows(rule, verb, path)), None)

    def allowing(self, verb: str, group: str, resource: str, subresource: str) -> list[tuple[Names, Source]]:
        """For each rule that allows a verb on a resource, in their order: which names of it, and its source."""
        keys = (f"{resource}/{subresource}", f"*/{subresource}", ALL) if subresource else (resource, ALL)
        found: dict[int, tuple[Names, Source]] = {}
        for key in keys:
            for number, rule, source in self._by_resource.get(key, ()):
                if resource_rule_allows(rule, verb, group, resource, subresource):
                    names = strings(rule, "resourceNames")
                    found[number] = (frozenset(names) if names else None), source
        return [found[number] for number in sorted(found)]
