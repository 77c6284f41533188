"""`CompiledBinding`: the subjects and the role of a RoleBinding or ClusterRoleBinding.

Source: kubernetes pkg/registry/rbac/validation/rule.go (1.36).
"""

from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.policy_rules import Rule
from sampan.server.authorization.rbac.rule_table import RuleTable
from sampan.storage.encoding import decode

Subject = tuple[str, str]
"""("user", name) or ("group", name). A service account is represented by its user name."""

USER: Final = "user"
GROUP: Final = "group"


class RoleRef(NamedTuple):
    """Role of a binding. `namespace` is that of a Role, and "" for a ClusterRole."""

    kind: str
    namespace: str
    name: str

    def missing_text(self, *, of_writer: bool = False) -> str:
        """Return the error text for a missing role. With `of_writer`, the text is for a user that writes roles or
        bindings.
        """
        if self.kind not in ("Role", "ClusterRole"):
            return f"unsupported role reference kind: {quote(self.kind)}"
        return f"{self.kind.lower()}{'s' if of_writer else ''}.rbac.authorization.k8s.io {quote(self.name)} not found"


class CompiledRole:
    """Role with its bindings.

    Its stored bytes are decoded on first use. A large role must not delay users that it is not bound to.
    """

    __slots__ = ("_rules", "_stored", "_table", "bindings", "ref")

    def __init__(self, ref: RoleRef) -> None:
        self.ref = ref
        self.bindings: dict[str, CompiledBinding] = {}
        self._stored: bytes | None = None
        self._rules: tuple[Rule, ...] | None = None
        self._table: RuleTable | None = None

    def set(self, stored: bytes | None) -> None:
        """Replace the role. None: it does not exist."""
        self._stored = stored
        self._rules = self._table = None

    @property
    def exists(self) -> bool:
        """False if only bindings refer to the role."""
        return self._stored is not None

    @property
    def rules(self) -> tuple[Rule, ...] | None:
        """Rules of the role; None if it does not exist."""
        if self._rules is None and self._stored is not None:
            self._rules = tuple(rules_of(decode(self._stored)))
        return self._rules

    def table(self) -> RuleTable:
        """Return the table of the rules, built on first use. It is empty while the role does not exist."""
        if self._table is None:
            self._table = RuleTable(self.rules or ())
        return self._table


def rules_of(role: Object) -> list[Rule]:
    """Return the rules of a Role or ClusterRole."""
    rules: list[Rule] = role.get("rules") or []
    return rules


class CompiledBinding:
    """One binding. `namespace` is "" for a ClusterRoleBinding."""

    __slots__ = ("_name", "_subjects", "key", "namespace", "ref", "role")

    def __init__(self, key: str, binding: Object, role_of: Callable[[RoleRef], CompiledRole]) -> None:
        metadata = binding["metadata"]
        self.key = key
        self.namespace: str = metadata.get("namespace") or ""
        self.ref = role_ref(binding, self.namespace)
        self.role = role_of(self.ref)
        self._name: str = metadata["name"]
        self._subjects: dict[Subject, Object] = {}
        """Subjects as they are written in the binding."""
        for written in binding.get("subjects") or ():
            subject = subject_of(written, self.namespace)
            if subject is not None:
                self._subjects.setdefault(subject, written)

    @property
    def subjects(self) -> Collection[Subject]:
        """Users, groups and service accounts that get the rights of the role."""
        return self._subjects.keys()

    def reason(self, subjects: Collection[Subject]) -> str:
        """Return the reason of an allowed request. At least one of `subjects` must be in the binding."""
        name = f"{self._name}/{self.namespace}" if self.namespace else self._name
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        written = next(written for subject, written in self._subjects.items() if subject in subjects)
        role = f"{self.ref.kind} {quote(self.ref.name)}"
        return f"RBAC: allowed by {kind} {quote(name)} of {role} to {_described(written, self.namespace)}"


def role_ref(binding: Object, namespace: str) -> RoleRef:
    """Return the role that a binding names. A ClusterRole has no namespace."""
    written = binding.get("roleRef") or {}
    kind = written.get("kind") or ""
    return RoleRef(kind, namespace if kind == "Role" else "", written.get("name") or "")


def subject_of(written: dict[str, Any], namespace: str) -> Subject | None:
    """Return the user or group of a binding's subject, or None if it is invalid."""
    kind, name = written.get("kind"), written.get("name") or ""
    if kind == "User":
        return USER, name
    if kind == "Group":
        return GROUP, name
    namespace = written.get("namespace") or namespace
    if kind == "ServiceAccount" and namespace:
        return USER, f"system:serviceaccount:{namespace}:{name}"
    return None


def _described(written: dict[str, Any], namespace: str) -> str:
    kind, name = written["kind"], written.get("name") or ""
    if kind == "ServiceAccount":
        name = f"{name}/{written.get('namespace') or namespace}"
    return f"{kind} {quote(name)}"
