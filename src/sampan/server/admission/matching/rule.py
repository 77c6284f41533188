"""`RuleWithOperations`: operations on resources. Source: apiserver pkg/admission/plugin/webhook/predicates/rules."""

from collections.abc import Mapping
from typing import Any, Final

from sampan.core.gvk import GroupVersionResource

NAMESPACES: Final = GroupVersionResource("", "v1", "namespaces")
_EVERY: Final = "*"


class RuleWithOperations:
    """Entry of `rules` or `resourceRules`."""

    __slots__ = ("_groups", "_names", "_operations", "_resources", "_scope", "_versions")

    def __init__(self, rule: Mapping[str, Any]) -> None:
        self._operations = _choice(rule.get("operations"))
        self._groups = _choice(rule.get("apiGroups"))
        self._versions = _choice(rule.get("apiVersions"))
        self._resources = tuple(_split(entry) for entry in rule.get("resources") or ())
        self._scope: str = rule.get("scope") or _EVERY
        self._names = frozenset(rule.get("resourceNames") or ())

    def matches(self, operation: str, gvr: GroupVersionResource, subresource: str, namespace: str) -> bool:
        """Return True if the rule matches the request. The namespace of a Namespace is its name."""
        return (
            (self._operations is None or operation in self._operations)
            and (self._groups is None or gvr.group in self._groups)
            and (self._versions is None or gvr.version in self._versions)
            and self._matches_resource(gvr.resource, subresource)
            and self._matches_scope(gvr, namespace)
        )

    def matches_name(self, name: str) -> bool:
        """Return True if the rule matches the object's name. Without `resourceNames` it matches all."""
        return not self._names or name in self._names

    def _matches_resource(self, resource: str, subresource: str) -> bool:
        return any(
            desired in (_EVERY, resource) and desired_part in (_EVERY, subresource)
            for desired, desired_part in self._resources
        )

    def _matches_scope(self, gvr: GroupVersionResource, namespace: str) -> bool:
        if self._scope == _EVERY:
            return True
        namespaced = bool(namespace) and gvr != NAMESPACES
        return namespaced is (self._scope == "Namespaced")


def _choice(values: Any) -> frozenset[str] | None:
    """Return the values, or None if all match."""
    return None if _EVERY in (values or ()) else frozenset(values or ())


def _split(entry: str) -> tuple[str, str]:
    resource, _, part = entry.partition("/")
    return resource, part
