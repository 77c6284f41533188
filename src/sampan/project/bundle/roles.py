"""Roles of an operator, from its declared rights; and roles for the users of its kinds.

A right for one namespace is in a Role there, all other rights are in a ClusterRole. No rule has a wildcard.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from sampan.core.gvk import GroupVersionResource
from sampan.operator.rights import Right, rules_of
from sampan.project.bundle.loaded import LoadedOperator
from sampan.project.bundle.settings import BundleSettings
from sampan.project.errors import ProjectError
from sampan.project.pyproject import FILE
from sampan.project.running.rights import rights_of
from sampan.resource import Object, ResourceInfo
from sampan.resource.declare import declaration

_GROUP: Final = "rbac.authorization.k8s.io"
_API: Final = f"{_GROUP}/v1"
_ANY_NAMESPACED: Final = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)
_VIEW: Final = ("get", "list", "watch")
_EDIT: Final = ("create", "delete", "get", "list", "patch", "update", "watch")
_ADMIN: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def operator_roles(settings: BundleSettings, operator: LoadedOperator) -> list[Object]:
    """Return the roles of the operator, each with its binding. Raises `ProjectError` for a wildcard."""
    rules: dict[str, list[Any]] = {}
    by_place: dict[str, list[Right]] = {}
    for right in rights_of(operator.manager, operator.code.kinds):
        by_place.setdefault(right.namespace or "", []).append(right)
    for place, rights in by_place.items():
        rules[place] = list(rules_of(rights))
    for place, extra in _extras(settings, operator):
        rules.setdefault(place, []).append(extra)
    found = []
    for place in sorted(rules):
        found += _bound(settings, "Role" if place else "ClusterRole", place, rules[place])
    return found


def _extras(settings: BundleSettings, operator: LoadedOperator) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the rules of `[tool.sampan] rbac`, each with its namespace."""
    file = settings.project.root / FILE
    for rule in settings.project.rbac:
        places = rule.get("namespaces", operator.manager.places_of(_ANY_NAMESPACED)) or [""]
        content = {key: list(value) for key, value in rule.items() if key != "namespaces"}
        if any("*" in str(each) for values in content.values() for each in values):
            raise ProjectError(f"{file}: tool.sampan.rbac has a wildcard: name the groups, resources and verbs")
        yield from ((place, content) for place in (places if "nonResourceURLs" not in content else [""]))


def _bound(settings: BundleSettings, kind: str, namespace: str, rules: Sequence[Object]) -> list[Object]:
    place = {"namespace": namespace} if namespace else {}
    reference = {"apiGroup": _GROUP, "kind": kind, "name": settings.name}
    subject = {"kind": "ServiceAccount", "name": settings.name, "namespace": settings.namespace}
    head: dict[str, Any] = {"apiVersion": _API}
    return [
        {**head, "kind": kind, "metadata": {"name": settings.name, **place}, "rules": list(rules)},
        {
            **head,
            "kind": f"{kind}Binding",
            "metadata": {"name": settings.name, **place},
            "roleRef": reference,
            "subjects": [subject],
        },
    ]


def user_roles(settings: BundleSettings, operator: LoadedOperator) -> list[Object]:
    """Return the roles of people: for each kind they become part of `view`, `edit` and `admin`; and one for metrics."""
    found: list[Object] = []
    kinds = {declaration(cls).info.gvr.group_resource: declaration(cls) for cls in operator.code.kinds}
    for group_resource, declared in sorted(kinds.items(), key=lambda each: str(each[0])):
        group, resource = group_resource.group, group_resource.resource
        for role, verbs in (("view", _VIEW), ("edit", _EDIT), ("admin", _ADMIN)):
            rules: list[Object] = [{"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}]
            if declared.status:
                rules.append({"apiGroups": [group], "resources": [f"{resource}/status"], "verbs": ["get"]})
            metadata = {"name": f"{settings.name}-{resource}-{role}", "labels": _aggregated(role)}
            found.append({"apiVersion": _API, "kind": "ClusterRole", "metadata": metadata, "rules": rules})
    if operator.process.metrics_bind_address and operator.process.metrics_secure:
        reader = [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]
        metadata = {"name": f"{settings.name}-metrics-reader"}
        found.append({"apiVersion": _API, "kind": "ClusterRole", "metadata": metadata, "rules": reader})
    return found


def _aggregated(role: str) -> Mapping[str, str]:
    return {f"{_GROUP}/aggregate-to-{role}": "true"}
