"""`RbacIndex`: all roles and bindings, by whom they are for, kept up to date from the watch caches.

Concurrency: none of its own; whoever asks calls `refresh` first, which takes in all acknowledged writes at once.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sampan.core.policy_rules import Rule
from sampan.registry.reader import CacheReader
from sampan.server.authorization.rbac.binding import GROUP, USER, CompiledBinding, RoleRef, Subject
from sampan.server.request import UserInfo
from sampan.storage.encoding import decode
from sampan.storage.records import Record

RBAC_GROUP: Final = "rbac.authorization.k8s.io"


class Grant(NamedTuple):
    """One binding that is for a user; `rules` is None when there is no such role."""

    binding: CompiledBinding
    rules: tuple[Rule, ...] | None


class RbacIndex:
    """Finds the bindings of a user without looking at those of others."""

    def __init__(self, reader: CacheReader) -> None:
        self._roles: dict[RoleRef, tuple[Rule, ...]] = {}
        self._bindings: dict[str, CompiledBinding] = {}
        self._by_subject: dict[tuple[str, Subject], dict[str, CompiledBinding]] = {}
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

    def refresh(self) -> bool:
        """Take in what has been written; whether there was anything."""
        changed = False
        for follower in self._followers:
            if follower.poll():
                changed = True
        return changed

    def rules(self, ref: RoleRef) -> tuple[Rule, ...] | None:
        """The rules of the role that a binding means."""
        return self._roles.get(ref)

    def grants(self, user: UserInfo, namespace: str) -> list[Grant]:
        """What is bound to a user: in the whole cluster, then in the namespace (if any); in the order of names."""
        asked = subjects_of(user)
        found = list(self._bound("", asked))
        if namespace:
            found += self._bound(namespace, asked)
        return [Grant(binding, self._roles.get(binding.role)) for binding in found]

    def _bound(self, namespace: str, asked: tuple[Subject, ...]) -> list[CompiledBinding]:
        found: dict[str, CompiledBinding] = {}
        for subject in asked:
            found.update(self._by_subject.get((namespace, subject), {}))
        return [found[key] for key in sorted(found)]

    def _apply_role(self, key: str, record: Record | None) -> None:
        before = self._role_keys.pop(key, None)
        if before is not None:
            del self._roles[before]
        if record is not None:
            kind = "Role" if record.namespace else "ClusterRole"
            ref = self._role_keys[key] = RoleRef(kind, record.namespace, record.name)
            self._roles[ref] = tuple(rules_of(decode(record.value)))

    def _apply_binding(self, key: str, record: Record | None) -> None:
        before = self._bindings.pop(key, None)
        if before is not None:
            for place in _places(before):
                bound = self._by_subject[place]
                del bound[key]
                if not bound:
                    del self._by_subject[place]
        if record is not None:
            binding = self._bindings[key] = CompiledBinding(key, decode(record.value))
            for place in _places(binding):
                self._by_subject.setdefault(place, {})[key] = binding


def subjects_of(user: UserInfo) -> tuple[Subject, ...]:
    """As whom a user may be bound."""
    return ((USER, user.name), *((GROUP, group) for group in user.groups))


def rules_of(role: dict[str, Any]) -> list[Rule]:
    """The rules of a Role or ClusterRole."""
    rules: list[Rule] = role.get("rules") or []
    return rules


def _places(binding: CompiledBinding) -> Iterator[tuple[str, Subject]]:
    return ((binding.namespace, subject) for subject in binding.subjects)
