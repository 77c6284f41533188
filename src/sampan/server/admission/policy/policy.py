"""`Policy`: the common part of both kinds of policies, compiled; `Binding`; `Policies`: all policies with bindings.

Source: apiserver pkg/admission/plugin/policy/generic/policy_source.go (1.36).
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.schema.cel import CelCompileError
from sampan.schema.cel.admission import Expressions, Inputs
from sampan.server.admission.change_detector import ChangeDetector
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.expressions.activation import Compiled
from sampan.server.admission.expressions.conditions import MatchConditions
from sampan.server.admission.matching.criteria import Criteria
from sampan.storage.records import Record

_GROUP = "admissionregistration.k8s.io"


class ParamKind(NamedTuple):
    """Kind of the parameters of a policy."""

    api_version: str
    kind: str

    def __str__(self) -> str:
        version = self.api_version if "/" in self.api_version else f"/{self.api_version}"
        return f"{version}, Kind={self.kind}"


class Policy:
    """Policy with compiled variables and conditions. An expression with a compile error fails when it is evaluated."""

    def __init__(self, policy: Object) -> None:
        spec = policy.get("spec") or {}
        self.name: str = policy["metadata"]["name"]
        self.criteria = Criteria(spec.get("matchConstraints") or {}, None)
        self.fails_open = spec.get("failurePolicy") == "Ignore"
        kind = spec.get("paramKind")
        self.param_kind = ParamKind(kind.get("apiVersion", ""), kind.get("kind", "")) if kind else None
        self.expressions = Expressions(Inputs(params=kind is not None))
        self.variables = {
            variable["name"]: _variable(self.expressions, variable) for variable in spec.get("variables") or ()
        }
        conditions = spec.get("matchConditions") or []
        self.conditions = (
            MatchConditions(conditions, self.expressions, fail_closed=not self.fails_open) if conditions else None
        )


def _variable(expressions: Expressions, variable: Object) -> Compiled:
    expression = variable["expression"]
    try:
        return Compiled(expression, expressions.add_variable(variable["name"], expression))
    except CelCompileError as error:
        return Compiled(expression, None, str(error))


class Binding:
    """Scope of a policy, with parameters and actions."""

    __slots__ = ("actions", "criteria", "name", "param_ref", "policy_name")

    def __init__(self, binding: Object) -> None:
        spec = binding.get("spec") or {}
        self.name: str = binding["metadata"]["name"]
        self.policy_name: str = spec.get("policyName", "")
        match = spec.get("matchResources")
        self.criteria = None if match is None else Criteria(match, None)
        self.param_ref: Object | None = spec.get("paramRef")
        self.actions: Sequence[str] = spec.get("validationActions") or ()


P = TypeVar("P", bound=Policy)


class Bound(NamedTuple, Generic[P]):
    """Policy and its bindings."""

    policy: P
    bindings: Sequence[Binding]


class Policies(Generic[P]):
    """Policies that have bindings, sorted by name.

    Rebuilt only after a write to a policy or binding.
    """

    def __init__(self, cluster: Cluster, kind: str, make: Callable[[Object], P]) -> None:
        """`kind` is validatingadmissionpolicies or mutatingadmissionpolicies."""
        self._reader = cluster.reader
        self._resource = kind
        self._binding_resource = kind.replace("policies", "policybindings")
        self._changes = ChangeDetector(cluster, (_GROUP, kind), (_GROUP, self._binding_resource))
        self._policies = DerivedCache(cluster.reader, _GROUP, kind, make)
        self._bindings = DerivedCache(cluster.reader, _GROUP, self._binding_resource, Binding)
        self._bound: Sequence[Bound[P]] = ()

    def all(self) -> Sequence[Bound[P]]:
        """Return the current policies."""
        if self._changes.has_changed():
            self._bound = self._put_together(
                self._reader.records(_GROUP, self._resource), self._reader.records(_GROUP, self._binding_resource)
            )
        return self._bound

    def _put_together(self, policies: Sequence[Record], bindings: Sequence[Record]) -> list[Bound[P]]:
        by_policy: dict[str, list[Binding]] = {}
        for record in sorted(bindings, key=lambda record: record.name):
            binding = self._bindings.of(record)
            by_policy.setdefault(binding.policy_name, []).append(binding)
        return [
            Bound(self._policies.of(record), by_policy[record.name])
            for record in sorted(policies, key=lambda record: record.name)
            if record.name in by_policy
        ]
