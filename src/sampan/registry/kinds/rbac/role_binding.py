"""Role bindings and cluster role bindings. Source: pkg/registry/rbac, pkg/apis/rbac/{v1,validation} (1.36)."""

from __future__ import annotations

from typing import Final

from sampan.core.field import Path, invalid, required
from sampan.core.object import Object
from sampan.core.validation.names import dns1123_subdomain_errors, path_segment_errors
from sampan.kinds import rbac_v1
from sampan.registry.columns.age import Ages
from sampan.registry.columns.cells import NAME, Cell, column
from sampan.registry.definition import Column
from sampan.registry.kind import Kind
from sampan.registry.old_versions.role_binding import role_binding
from sampan.registry.rules.fields import Errors, not_supported
from sampan.registry.strategy import Context, Strategy

_GROUP = "rbac.authorization.k8s.io"
_ROLE = Path("roleRef")
_SUBJECTS = Path("subjects")
_SUBJECT_KINDS = ("ServiceAccount", "User", "Group")


def _check_subject(subject: rbac_v1.Subject, path: Path, errors: Errors, *, namespaced: bool) -> None:
    name, kind, group = subject.get("name", ""), subject.get("kind", ""), subject.get("apiGroup", "")
    if not name:
        errors.append(required(path.child("name")))
    if kind == "ServiceAccount":
        if name:
            errors.extend(invalid(path.child("name"), name, text) for text in dns1123_subdomain_errors(name))
        if group:
            errors.append(not_supported(path.child("apiGroup"), group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(path.child("namespace")))
    elif kind in _SUBJECT_KINDS:
        if group != _GROUP:
            errors.append(not_supported(path.child("apiGroup"), group, (_GROUP,)))
    else:
        errors.append(not_supported(path.child("kind"), kind, _SUBJECT_KINDS))


class RoleBindingStrategy(Strategy):
    """Rules of role bindings. The role of a binding is immutable."""

    has_generation = False
    allow_create_on_update = True

    def __init__(self, *, namespaced: bool) -> None:
        self._namespaced = namespaced
        self._role_kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)

    def name_errors(self, name: str, *, prefix: bool = False) -> list[str]:
        """Check that the name is a valid path segment."""
        return path_segment_errors(name)

    def default(self, obj: Object) -> None:
        """Set the default API groups of the role and of users and groups."""
        role = obj.setdefault("roleRef", {})
        if not role.get("apiGroup"):
            role["apiGroup"] = _GROUP
        for subject in obj.get("subjects") or ():
            if not subject.get("apiGroup") and subject.get("kind") in ("User", "Group"):
                subject["apiGroup"] = _GROUP

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        role = obj.get("roleRef", {})
        group, kind, name = role.get("apiGroup", ""), role.get("kind", ""), role.get("name", "")
        if group != _GROUP:
            errors.append(not_supported(_ROLE.child("apiGroup"), group, (_GROUP,)))
        if kind not in self._role_kinds:
            errors.append(not_supported(_ROLE.child("kind"), kind, self._role_kinds))
        if not name:
            errors.append(required(_ROLE.child("name")))
        errors.extend(invalid(_ROLE.child("name"), name, text) for text in path_segment_errors(name))
        for index, subject in enumerate(obj.get("subjects") or ()):
            _check_subject(subject, _SUBJECTS.index(index), errors, namespaced=self._namespaced)

    def check_update(self, ctx: Context, obj: Object, old: Object, errors: Errors) -> None:
        """Check an update: the role is immutable."""
        self.check(ctx, obj, errors)
        if obj.get("roleRef") != old.get("roleRef"):
            errors.append(invalid(_ROLE, obj.get("roleRef"), "cannot change roleRef"))


def _subjects(kind: str) -> Cell:
    def cell(binding: rbac_v1.RoleBinding | rbac_v1.ClusterRoleBinding) -> str:
        return ", ".join(
            f"{subject.get('namespace', '')}/{subject['name']}" if kind == "ServiceAccount" else subject["name"]
            for subject in binding.get("subjects", ())
            if subject["kind"] == kind
        )

    return cell


def _role_text(binding: rbac_v1.RoleBinding | rbac_v1.ClusterRoleBinding) -> str:
    return f"{binding['roleRef']['kind']}/{binding['roleRef']['name']}"


def _columns(ages: Ages) -> tuple[Column, ...]:
    return (
        NAME,
        column("Role", _role_text),
        ages.column,
        column("Users", _subjects("User"), wide=True),
        column("Groups", _subjects("Group"), wide=True),
        column("ServiceAccounts", _subjects("ServiceAccount"), wide=True),
    )


KINDS: Final = (
    Kind(
        _GROUP,
        "rolebindings",
        RoleBindingStrategy(namespaced=True),
        old_versions={"rbac.authorization.k8s.io/v1alpha1": role_binding},
        columns=_columns,
    ),
    Kind(
        _GROUP,
        "clusterrolebindings",
        RoleBindingStrategy(namespaced=False),
        old_versions={"rbac.authorization.k8s.io/v1alpha1": role_binding},
        columns=_columns,
    ),
)
