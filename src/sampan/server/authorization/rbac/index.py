"""`RbacIndex`: all roles and bindings by subject, kept up to date from the watch caches.

Concurrency: it has no tasks. Callers must call `refresh` first, which applies all acknowledged writes.
"""

from collections.abc import Mapping
from typing import Final

from sampan.core.policy_rules import Rule
from sampan.registry.reader import CacheReader
from sampan.server.authorization.rbac.binding import GROUP, USER, CompiledBinding, CompiledRole, RoleRef, Subject
from sampan.server.authorization.rbac.grants import Grants
from sampan.server.request import UserInfo
from sampan.storage.encoding import decode
from sampan.storage.records import Record

RBAC_GROUP: Final = "rbac.authorization.k8s.io"


Bound = Mapping[Subject, Grants]
"""Grants of one scope, by subject."""

_NOTHING: Final[Bound] = {}


class RbacIndex:
    """Finds the bindings of a user without a search through all bindings. The cost of an update depends only on the
    size of the change.
    """

    def __init__(self, reader: CacheReader) -> None:
        self._roles: dict[RoleRef, CompiledRole] = {}
        self._bindings: dict[str, CompiledBinding] = {}
        self._scopes: dict[str, dict[Subject, Grants]] = {}
        self._followers = tuple(
            reader.follow(RBAC_GROUP, resource, apply)
            for resource, apply in (
                ("clusterroles", self._apply_role),
                ("roles", self._apply_role),
                ("clusterrolebindings", self._apply_binding),
                ("rolebindings", self._apply_binding),
            )
        )
        self._role_keys: dict[str, RoleRef] = {}
        self.generation = 0
        """Number of the state of roles and bindings. A decision that was made in an earlier state may be wrong."""

    @property
    def lacks_roles(self) -> bool:
        """True if a binding refers to a role that does not exist."""
        return len(self._roles) > len(self._role_keys)

    def refresh(self) -> None:
        """Apply new writes."""
        changed = False
        for follower in self._followers:
            if follower.poll():
                changed = True
        self.generation += changed

    def rules(self, ref: RoleRef) -> tuple[Rule, ...] | None:
        """Return the rules of a role, or None if it does not exist."""
        role = self._roles.get(ref)
        return None if role is None else role.rules

    def scopes(self, namespace: str) -> tuple[Bound, ...]:
        """Return the grants in the whole cluster, and those in the namespace if it is not ""."""
        everywhere = self._scopes.get("", _NOTHING)
        return (everywhere, self._scopes.get(namespace, _NOTHING)) if namespace else (everywhere,)

    def bindings(self, user: UserInfo, namespace: str) -> list[CompiledBinding]:
        """Return the bindings of a user, sorted by name: first those of the cluster, then those of the namespace."""
        subjects = subjects_of(user)
        found: list[CompiledBinding] = []
        for bound in self.scopes(namespace):
            by_key: dict[str, CompiledBinding] = {}
            for subject in subjects:
                if subject in bound:
                    by_key |= bound[subject].bindings
            found += [by_key[key] for key in sorted(by_key)]
        return found

    def namespaces_of(self, user: UserInfo) -> set[str]:
        """Return the namespaces that have a binding of a user."""
        subjects = subjects_of(user)
        return {
            namespace
            for namespace, bound in self._scopes.items()
            if namespace and any(subject in bound for subject in subjects)
        }

    def _role(self, ref: RoleRef) -> CompiledRole:
        role = self._roles.get(ref)
        if role is None:
            role = self._roles[ref] = CompiledRole(ref)
        return role

    def _apply_role(self, key: str, record: Record | None) -> None:
        if record is not None:
            kind = "Role" if record.namespace else "ClusterRole"
            ref = self._role_keys[key] = RoleRef(kind, record.namespace, record.name)
            self._change(self._role(ref), record.value)
            return
        before = self._role_keys.pop(key, None)
        if before is not None:
            self._change(self._roles[before], None)

    def _change(self, role: CompiledRole, stored: bytes | None) -> None:
        for binding in role.bindings.values():
            scope = self._scopes[binding.namespace]
            for subject in binding.subjects:
                scope[subject].forget()
        role.set(stored)
        self._drop_unused(role)

    def _drop_unused(self, role: CompiledRole) -> None:
        if not role.exists and not role.bindings:
            del self._roles[role.ref]

    def _apply_binding(self, key: str, record: Record | None) -> None:
        before = self._bindings.pop(key, None)
        if before is not None:
            self._remove(before)
        if record is not None:
            binding = self._bindings[key] = CompiledBinding(key, decode(record.value), self._role)
            binding.role.bindings[key] = binding
            scope = self._scopes.setdefault(binding.namespace, {})
            for subject in binding.subjects:
                grants = scope.get(subject)
                if grants is None:
                    grants = scope[subject] = Grants()
                grants.add(binding)

    def _remove(self, binding: CompiledBinding) -> None:
        scope = self._scopes.get(binding.namespace, {})
        for subject in binding.subjects:
            grants = scope[subject]
            grants.remove(binding)
            if not grants.bindings:
                del scope[subject]
        if not scope:
            self._scopes.pop(binding.namespace, None)
        del binding.role.bindings[binding.key]
        self._drop_unused(binding.role)


def subjects_of(user: UserInfo) -> tuple[Subject, ...]:
    """Return the subjects that match a user."""
    return ((USER, user.name), *((GROUP, group) for group in user.groups))
