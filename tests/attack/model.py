"""A model of RBAC that is simple enough to be right: rules, attributes of a request, and whether a rule allows them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

RBAC = "/apis/rbac.authorization.k8s.io/v1"


@dataclass(frozen=True, slots=True)
class Attributes:
    """A right that a request needs. `resource` has the subresource too: `pods/log`."""

    verb: str
    group: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Grant:
    """One rule and where it holds; without a namespace, everywhere. No names: all."""

    verbs: frozenset[str]
    group: str
    resources: frozenset[str]
    namespace: str = ""
    names: frozenset[str] = frozenset()

    def allows(self, needed: Attributes) -> bool:
        """Return True if the rule allows it."""
        return (
            (needed.verb in self.verbs or "*" in self.verbs)
            and self.group in (needed.group, "*")
            and (needed.resource in self.resources or "*" in self.resources)
            and self.namespace in ("", needed.namespace)
            and (not self.names or needed.name in self.names)
        )

    def __str__(self) -> str:
        names = f" named {' '.join(self.names)}" if self.names else ""
        where = f" in {self.namespace}" if self.namespace else ""
        return f"{' '.join(sorted(self.verbs))} {' '.join(sorted(self.resources))}{names}{where}"

    def objects(self, role: str, user: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the role and its binding, each with the collection that it is created in."""
        rule: dict[str, Any] = {
            "verbs": sorted(self.verbs),
            "apiGroups": [self.group],
            "resources": sorted(self.resources),
        }
        rule |= {"resourceNames": sorted(self.names)} if self.names else {}
        kind = "Role" if self.namespace else "ClusterRole"
        where = f"{RBAC}/namespaces/{self.namespace}/roles" if self.namespace else f"{RBAC}/clusterroles"
        subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
        ref = {"kind": kind, "name": role, "apiGroup": "rbac.authorization.k8s.io"}
        return [
            (where, {"metadata": {"name": role}, "rules": [rule]}),
            (where[:-1] + "bindings", {"metadata": {"name": role}, "subjects": [subject], "roleRef": ref}),
        ]


def grant(verbs: str, group: str, resources: str, namespace: str = "", names: str = "") -> Grant:
    """Return a grant; verbs, resources and names are separated by spaces."""
    return Grant(frozenset(verbs.split()), group, frozenset(resources.split()), namespace, frozenset(names.split()))


BASIC = (
    grant("create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
    grant("create", "authentication.k8s.io", "selfsubjectreviews"),
)
"""Rights that every authenticated user has."""


def missing(grants: Sequence[Grant], needed: Iterable[Attributes]) -> Attributes | None:
    """Return the first needed right that the grants do not allow."""
    return next((each for each in needed if not any(one.allows(each) for one in (*BASIC, *grants))), None)
