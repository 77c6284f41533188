"""Subjects of the bootstrap roles, and aggregated roles.

A subject is `user:NAME`, `group:NAME` or `account:NAME` (a service account of kube-system).
Source: kubernetes plugin/pkg/auth/authorizer/rbac/bootstrappolicy/{policy,namespace_policy}.go (1.36).
"""

from typing import Any, Final

from sampan.core.object import Object

RBAC_GROUP: Final = "rbac.authorization.k8s.io"

Subjects = tuple[str, ...]

_AUTHENTICATED: Final = "group:system:authenticated"
_UNAUTHENTICATED: Final = "group:system:unauthenticated"
_MANAGER: Final = "user:system:kube-controller-manager"
_SCHEDULER: Final = "user:system:kube-scheduler"

CLUSTER_ROLE_BINDINGS: Final[dict[str, Subjects]] = {
    "cluster-admin": ("group:system:masters",),
    "system:monitoring": ("group:system:monitoring",),
    "system:discovery": (_AUTHENTICATED,),
    "system:basic-user": (_AUTHENTICATED,),
    "system:public-info-viewer": (_AUTHENTICATED, _UNAUTHENTICATED),
    "system:node-proxier": ("user:system:kube-proxy",),
    "system:kube-controller-manager": (_MANAGER,),
    "system:kube-dns": ("account:kube-dns",),
    "system:kube-scheduler": (_SCHEDULER,),
    "system:volume-scheduler": (_SCHEDULER,),
    "system:service-account-issuer-discovery": ("group:system:serviceaccounts",),
    "system:node": (),
}
"""ClusterRoleBindings; each refers to the ClusterRole of the same name."""

NAMESPACE_ROLE_BINDINGS: Final[dict[tuple[str, str], tuple[str, Subjects]]] = {
    ("kube-system", "system::extension-apiserver-authentication-reader"): (
        "extension-apiserver-authentication-reader",
        (_MANAGER, _SCHEDULER),
    ),
    ("kube-system", "system::leader-locking-kube-controller-manager"): (
        "system::leader-locking-kube-controller-manager",
        (_MANAGER, "account:kube-controller-manager", "account:leader-election-controller"),
    ),
    ("kube-system", "system::leader-locking-kube-scheduler"): (
        "system::leader-locking-kube-scheduler",
        (_SCHEDULER, "account:kube-scheduler"),
    ),
    ("kube-system", "system:controller:bootstrap-signer"): (
        "system:controller:bootstrap-signer",
        ("account:bootstrap-signer",),
    ),
    ("kube-system", "system:controller:cloud-provider"): (
        "system:controller:cloud-provider",
        ("account:cloud-provider",),
    ),
    ("kube-system", "system:controller:token-cleaner"): (
        "system:controller:token-cleaner",
        ("account:token-cleaner",),
    ),
    ("kube-public", "system:controller:bootstrap-signer"): (
        "system:controller:bootstrap-signer",
        ("account:bootstrap-signer",),
    ),
}
"""RoleBindings of the system namespaces, with their Role and subjects."""

AGGREGATED: Final = ("admin", "edit", "view")
"""ClusterRoles that have the rules of all roles with the label `aggregate-to-NAME`."""

AGGREGATED_TO: Final[dict[str, str]] = {
    "edit": "admin",
    "view": "edit",
    "system:aggregate-to-admin": "admin",
    "system:aggregate-to-edit": "edit",
    "system:aggregate-to-view": "view",
}
"""Aggregated roles that include the rules of a ClusterRole."""


def aggregation_label(name: str) -> str:
    """Return the label of the ClusterRoles that `name` aggregates."""
    return f"{RBAC_GROUP}/aggregate-to-{name}"


def subjects(texts: Subjects) -> list[dict[str, Any]]:
    """Return the subjects of a binding."""
    return [_subject(*text.split(":", 1)) for text in texts]


def role_ref(kind: str, name: str) -> Object:
    """Return the reference to a role."""
    return {"apiGroup": RBAC_GROUP, "kind": kind, "name": name}


def _subject(kind: str, name: str) -> dict[str, Any]:
    if kind == "account":
        return {"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}
    return {"kind": kind.capitalize(), "apiGroup": RBAC_GROUP, "name": name}
