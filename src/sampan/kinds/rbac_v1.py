"""Types of rbac/v1. `make kinds` writes this module."""

from __future__ import annotations

from typing import Final, Literal, Required, TypedDict

from sampan.core.gvk import GroupVersion
from sampan.kinds import meta_v1


class AggregationRule(TypedDict, total=False):
    """Type of `ClusterRole.aggregationRule`."""

    clusterRoleSelectors: list[meta_v1.LabelSelector]


class ClusterRole(TypedDict, total=False):
    """Object of the resource `clusterroles`."""

    aggregationRule: AggregationRule
    apiVersion: Required[Literal["rbac.authorization.k8s.io/v1"]]
    kind: Required[Literal["ClusterRole"]]
    metadata: Required[meta_v1.ObjectMeta]
    rules: list[PolicyRule]


class ClusterRoleBinding(TypedDict, total=False):
    """Object of the resource `clusterrolebindings`."""

    apiVersion: Required[Literal["rbac.authorization.k8s.io/v1"]]
    kind: Required[Literal["ClusterRoleBinding"]]
    metadata: Required[meta_v1.ObjectMeta]
    roleRef: Required[RoleRef]
    subjects: list[Subject]


class ClusterRoleBindingList(TypedDict, total=False):
    """Response with a list of `ClusterRoleBinding`."""

    apiVersion: Required[Literal["rbac.authorization.k8s.io/v1"]]
    items: Required[list[ClusterRoleBinding]]
    kind: Required[Literal["ClusterRoleBindingList"]]
    metadata: Required[meta_v1.ListMeta]


class ClusterRoleList(TypedDict, total=False):
    """Response with a list of `ClusterRole`."""

    apiVersion: Required[Literal["rbac.authorization.k8s.io/v1"]]
    items: Required[list[ClusterRole]]
    kind: Required[Literal["ClusterRoleList"]]
    metadata: Required[meta_v1.ListMeta]


class PolicyRule(TypedDict, total=False):
    """Type of `ClusterRole.rules`, `Role.rules`."""

    apiGroups: list[str]
    nonResourceURLs: list[str]
    resourceNames: list[str]
    resources: list[str]
    verbs: Required[list[str]]


class Role(TypedDict, total=False):
    """Object of the resource `roles` in a namespace."""

    apiVersion: Required[Literal["rbac.authorization.k8s.io/v1"]]
    kind: Required[Literal["Role"]]
    metadata: Required[meta_v1.ObjectMeta]
    rules: list[PolicyRule]


class RoleBinding(TypedDict, total=False):
    """Object of the resource `rolebindings` in a namespace."""

    apiVersion: Required[Literal["rbac.authorization.k8s.io/v1"]]
    kind: Required[Literal["RoleBinding"]]
    metadata: Required[meta_v1.ObjectMeta]
    roleRef: Required[RoleRef]
    subjects: list[Subject]


class RoleBindingList(TypedDict, total=False):
    """Response with a list of `RoleBinding`."""

    apiVersion: Required[Literal["rbac.authorization.k8s.io/v1"]]
    items: Required[list[RoleBinding]]
    kind: Required[Literal["RoleBindingList"]]
    metadata: Required[meta_v1.ListMeta]


class RoleList(TypedDict, total=False):
    """Response with a list of `Role`."""

    apiVersion: Required[Literal["rbac.authorization.k8s.io/v1"]]
    items: Required[list[Role]]
    kind: Required[Literal["RoleList"]]
    metadata: Required[meta_v1.ListMeta]


class RoleRef(TypedDict, total=False):
    """Type of `ClusterRoleBinding.roleRef`, `RoleBinding.roleRef`."""

    apiGroup: str
    kind: Required[str]
    name: Required[str]


class Subject(TypedDict, total=False):
    """Type of `ClusterRoleBinding.subjects`, `RoleBinding.subjects`."""

    apiGroup: str
    kind: Required[str]
    name: Required[str]
    namespace: str


GROUP_VERSION: Final = GroupVersion("rbac.authorization.k8s.io", "v1")

RESOURCES: Final = {
    "ClusterRole": ("clusterroles", False),
    "ClusterRoleBinding": ("clusterrolebindings", False),
    "Role": ("roles", True),
    "RoleBinding": ("rolebindings", True),
}
"""Resources by their kinds, and True if they are in namespaces."""
