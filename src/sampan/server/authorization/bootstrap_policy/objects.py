"""Roles and bindings of the bootstrap policy, as the objects that a server creates at its start."""

from collections.abc import Iterator
from typing import Any

from sampan.core.object import Object
from sampan.server.authorization.bootstrap_policy.bindings import (
    AGGREGATED,
    AGGREGATED_TO,
    CLUSTER_ROLE_BINDINGS,
    NAMESPACE_ROLE_BINDINGS,
    Subjects,
    aggregation_label,
    role_ref,
    subjects,
)
from sampan.server.authorization.bootstrap_policy.cluster_roles import CLUSTER_ROLES
from sampan.server.authorization.bootstrap_policy.component_roles import COMPONENT_ROLES
from sampan.server.authorization.bootstrap_policy.controller_roles import CONTROLLER_ROLES
from sampan.server.authorization.bootstrap_policy.grammar import Rows, rules
from sampan.server.authorization.bootstrap_policy.namespace_roles import NAMESPACE_ROLES

AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"
"""Annotation that, if "false", protects an object from changes at start."""

_API_VERSION = "rbac.authorization.k8s.io/v1"
_CONTROLLER = "system:controller:"


def cluster_roles() -> Iterator[Object]:
    """Yield the ClusterRoles that a server creates and repairs at its start."""
    for name in AGGREGATED:
        selector = {"matchLabels": {aggregation_label(name): "true"}}
        yield {**_head("ClusterRole", name), "rules": None, "aggregationRule": {"clusterRoleSelectors": [selector]}}
    for table in (CLUSTER_ROLES, COMPONENT_ROLES):
        for name, rows in table.items():
            yield _role("ClusterRole", name, rows)
    for name, rows in CONTROLLER_ROLES.items():
        yield _role("ClusterRole", _CONTROLLER + name, rows)


def cluster_role_bindings() -> Iterator[Object]:
    """Yield the bindings that a server creates and repairs at its start."""
    for name, bound in CLUSTER_ROLE_BINDINGS.items():
        yield _binding("ClusterRoleBinding", name, role_ref("ClusterRole", name), bound)
    for name in CONTROLLER_ROLES:
        role = _CONTROLLER + name
        yield _binding("ClusterRoleBinding", role, role_ref("ClusterRole", role), (f"account:{name}",))


def roles() -> Iterator[Object]:
    """Yield the Roles of the system namespaces."""
    for (namespace, name), rows in NAMESPACE_ROLES.items():
        yield _role("Role", name, rows, namespace)


def role_bindings() -> Iterator[Object]:
    """Yield the RoleBindings of the system namespaces."""
    for (namespace, name), (role, bound) in NAMESPACE_ROLE_BINDINGS.items():
        yield _binding("RoleBinding", name, role_ref("Role", role), bound, namespace)


def _role(kind: str, name: str, rows: Rows, namespace: str = "") -> Object:
    return {**_head(kind, name, namespace), "rules": rules(rows)}


def _binding(kind: str, name: str, ref: Object, bound: Subjects, namespace: str = "") -> Object:
    binding = {**_head(kind, name, namespace), "roleRef": ref}
    if bound:
        binding["subjects"] = subjects(bound)
    return binding


def _head(kind: str, name: str, namespace: str = "") -> Object:
    labels = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    if kind == "ClusterRole" and name in AGGREGATED_TO:
        labels[aggregation_label(AGGREGATED_TO[name])] = "true"
    metadata: dict[str, Any] = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata |= {"labels": labels, "annotations": {AUTO_UPDATE: "true"}}
    return {"kind": kind, "apiVersion": _API_VERSION, "metadata": metadata}
