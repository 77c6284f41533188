"""`Policy`: the common part of both kinds of policies, compiled; `Binding`; `Policies`: all policies with bindings.

Source: apiserver pkg/admission/plugin/policy/generic/policy_source.go (1.36).
"""

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from sampan.core.object import Object
from sampan.registry.cluster import Cluster
from sampan.schema.cel import CelCompileError
from sampan.schema.cel.admission import Expressions, Inputs
from sampan.server.admission.compiled_objects import CompiledObjects, Refreshed
from sampan.server.admission.expressions.activation import Compiled
from sampan.server.admission.expressions.conditions import MatchConditions
from sampan.server.admission.matching.criteria import Criteria

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


class PolicyHook(NamedTuple, Generic[P]):
    """Policy and its bindings."""

    policy: P
    bindings: Sequence[Binding]


class Policies(Generic[P]):
    """Policies that have bindings, sorted by name.

    Rebuilt only after a write to a policy or binding.
    """

    def __init__(self, cluster: Cluster, kind: str, make: Callable[[Object], P]) -> None:
        """`kind` is validatingadmissionpolicies or mutatingadmissionpolicies."""
        bindings = kind.replace("policies", "policybindings")
        self._policies = CompiledObjects(cluster, _GROUP, kind, make)
        self._bindings = CompiledObjects(cluster, _GROUP, bindings, Binding)
        self._bound = Refreshed(cluster, [(_GROUP, kind), (_GROUP, bindings)], self._put_together)

    def has_any(self) -> bool:
        """Return True if there are policies and bindings."""
        return self._policies.has_any() and self._bindings.has_any()

    async def all(self) -> Sequence[PolicyHook[P]]:
        """Return the current policies. If they have changed, compile them in a thread."""
        return await self._bound.get()

    async def _put_together(self) -> Sequence[PolicyHook[P]]:
        by_policy: dict[str, list[Binding]] = {}
        for binding in (await self._bindings.by_name()).values():
            by_policy.setdefault(binding.policy_name, []).append(binding)
        policies = await self._policies.by_name(by_policy)
        return [PolicyHook(policy, by_policy[name]) for name, policy in policies.items()]
