"""Bindings of rbac.authorization.k8s.io/v1alpha1. Source: pkg/apis/rbac/v1alpha1/{conversion,defaults}.go (1.36)."""

from typing import Final

from sampan.core.object import Object
from sampan.registry.old_versions.parts import items

_GROUP: Final = "rbac.authorization.k8s.io"
_GROUPS_OF_KINDS: Final = {"ServiceAccount": "", "User": _GROUP, "Group": _GROUP}


def role_binding(obj: Object) -> None:
    """Give each subject an API group instead of an apiVersion; replace the user `*` with the group of all users."""
    for subject in items(obj, "subjects"):
        own = str(subject.pop("apiVersion", None) or "").rpartition("/")[0]
        group = subject["apiGroup"] = _GROUPS_OF_KINDS.get(subject.get("kind", ""), own)
        if (subject.get("kind"), group, subject.get("name")) == ("User", _GROUP, "*"):
            subject |= {"kind": "Group", "name": "system:authenticated"}
