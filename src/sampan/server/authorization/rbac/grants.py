"""`Grants`: the rules bound to one subject in one scope, indexed by resource and path."""

from sampan.core.policy_rules import Rule
from sampan.server.authorization.rbac.binding import CompiledBinding
from sampan.server.authorization.rbac.rule_table import Names, Words

Grant = tuple[Words, Words, Names, CompiledBinding]
"""Verbs, groups and names of a rule, and the binding that grants it."""


class Grants:
    """Tables of granted rules. They are built on first use, updated when a binding changes, and rebuilt when a role
    changes.
    """

    __slots__ = ("_by_resource", "_path_rules", "bindings")

    def __init__(self) -> None:
        self.bindings: dict[str, CompiledBinding] = {}
        self._by_resource: dict[str, list[Grant]] | None = None
        self._path_rules: list[tuple[Rule, CompiledBinding]] | None = None

    def add(self, binding: CompiledBinding) -> None:
        """Grant the rules of a binding to its subjects. Remove an earlier binding with the same key before."""
        self.bindings[binding.key] = binding
        if self._by_resource is not None:
            _grant(self._by_resource, binding)
        self._path_rules = None

    def remove(self, binding: CompiledBinding) -> None:
        """Remove a binding. Its role must be unchanged since it was added."""
        del self.bindings[binding.key]
        if self._by_resource is not None:
            for resource in binding.role.table().by_resource:
                left = [grant for grant in self._by_resource[resource] if grant[3] is not binding]
                if left:
                    self._by_resource[resource] = left
                else:
                    del self._by_resource[resource]
        self._path_rules = None

    def forget(self) -> None:
        """Discard the tables. Call this before a bound role changes."""
        self._by_resource = self._path_rules = None

    def by_resource(self) -> dict[str, list[Grant]]:
        """Return the grants by resource, as in `RuleTable.by_resource`."""
        found = self._by_resource
        if found is None:
            found = self._by_resource = {}
            for binding in self.bindings.values():
                _grant(found, binding)
        return found

    def path_rules(self) -> list[tuple[Rule, CompiledBinding]]:
        """Return the rules for paths, and the bindings that grant them."""
        if self._path_rules is None:
            self._path_rules = [
                (rule, binding) for binding in self.bindings.values() for rule in binding.role.table().path_rules
            ]
        return self._path_rules


def _grant(by_resource: dict[str, list[Grant]], binding: CompiledBinding) -> None:
    for resource, entries in binding.role.table().by_resource.items():
        grants = by_resource.setdefault(resource, [])
        for verbs, groups, names in entries:
            grants.append((verbs, groups, names, binding))
