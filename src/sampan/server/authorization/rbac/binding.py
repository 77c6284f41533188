"""`CompiledBinding`: whom a RoleBinding or ClusterRoleBinding gives which role.

Source: kubernetes pkg/registry/rbac/validation/rule.go (1.36).
"""

from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.policy_rules import Rule
from sampan.server.authorization.rbac.rule_table import RuleTable

Subject = tuple[str, str]
"""("user", name) or ("group", name); a service account is the user that its tokens stand for."""

USER: Final = "user"
GROUP: Final = "group"


class RoleRef(NamedTuple):
    """The role of a binding. `namespace` is that of a Role, and "" for a ClusterRole."""

    kind: str
    namespace: str
    name: str

    def missing_text(self, *, of_writer: bool = False) -> str:
        """What is said of a role that is not there. `of_writer`: to who writes roles and lacks rights."""
        if self.kind not in ("Role", "ClusterRole"):
            return f"unsupported role reference kind: {quote(self.kind)}"
        return f"{self.kind.lower()}{'s' if of_writer else ''}.rbac.authorization.k8s.io {quote(self.name)} not found"


class CompiledRole:
    """A role, or the want of one: `rules` is None while it is not there. `bindings`: those that are for it."""

    __slots__ = ("_table", "bindings", "ref", "rules")

    def __init__(self, ref: RoleRef) -> None:
        self.ref = ref
        self.rules: tuple[Rule, ...] | None = None
        self.bindings: dict[str, CompiledBinding] = {}
        self._table: RuleTable | None = None

    def set(self, rules: tuple[Rule, ...] | None) -> None:
        """Take the rules that it has from now on."""
        self.rules = rules
        self._table = None

    def table(self) -> RuleTable:
        """The rules, made ready when they are first asked for; empty while the role is not there."""
        if self._table is None:
            self._table = RuleTable(self.rules or ())
        return self._table


class CompiledBinding:
    """One binding. `namespace` is "" for the whole cluster."""

    __slots__ = ("_name", "_subjects", "key", "namespace", "ref", "role")

    def __init__(self, key: str, binding: Object, role_of: Callable[[RoleRef], CompiledRole]) -> None:
        metadata = binding["metadata"]
        self.key = key
        self.namespace: str = metadata.get("namespace") or ""
        self.ref = role_ref(binding, self.namespace)
        self.role = role_of(self.ref)
        self._name: str = metadata["name"]
        self._subjects: dict[Subject, Object] = {}
        """How the binding names them."""
        for said in binding.get("subjects") or ():
            subject = subject_of(said, self.namespace)
            if subject is not None:
                self._subjects.setdefault(subject, said)

    @property
    def subjects(self) -> Collection[Subject]:
        """Whom it is for."""
        return self._subjects.keys()

    def reason(self, asked: Collection[Subject]) -> str:
        """Why it allows a user who is `asked`, one of its subjects at least."""
        name = f"{self._name}/{self.namespace}" if self.namespace else self._name
        kind = "RoleBinding" if self.namespace else "ClusterRoleBinding"
        whom = next(said for subject, said in self._subjects.items() if subject in asked)
        role = f"{self.ref.kind} {quote(self.ref.name)}"
        return f"RBAC: allowed by {kind} {quote(name)} of {role} to {_described(whom, self.namespace)}"


def role_ref(binding: Object, namespace: str) -> RoleRef:
    """The role that a binding in a namespace means."""
    said = binding.get("roleRef") or {}
    kind = said.get("kind") or ""
    return RoleRef(kind, namespace if kind == "Role" else "", said.get("name") or "")


def subject_of(said: dict[str, Any], namespace: str) -> Subject | None:
    """Who is meant by a subject of a binding in a namespace; None: nobody."""
    kind, name = said.get("kind"), said.get("name") or ""
    if kind == "User":
        return USER, name
    if kind == "Group":
        return GROUP, name
    namespace = said.get("namespace") or namespace
    if kind == "ServiceAccount" and namespace:
        return USER, f"system:serviceaccount:{namespace}:{name}"
    return None


def _described(said: dict[str, Any], namespace: str) -> str:
    kind, name = said["kind"], said.get("name") or ""
    if kind == "ServiceAccount":
        name = f"{name}/{said.get('namespace') or namespace}"
    return f"{kind} {quote(name)}"
