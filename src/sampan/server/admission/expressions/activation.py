"""`Activation`: the variables of expressions for one request, and their evaluation.

Source: apiserver pkg/admission/plugin/cel/{activation,condition}.go (1.36).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sampan.core.event_loop.offload import offloaded
from sampan.core.object import Object
from sampan.schema.cel import Budget, CelBudgetExceeded, CelRuntimeError, Program
from sampan.schema.cel.admission import lazy_variables
from sampan.schema.cel.cost.budget import OUT_OF_BUDGET
from sampan.server.admission.chain import Attributes
from sampan.server.admission.expressions.authority import Authority, PendingDecision
from sampan.server.admission.matching.forms import Versioned
from sampan.server.admission.matching.subject import Equivalent

POLICY_COST_MAX = 10_000_000
"""Cost limit of all expressions of one policy, for one binding and one parameter."""
CONDITIONS_COST_MAX = 2_500_000
"""Cost limit of all matchConditions of a webhook or policy."""


class OutOfBudget(Exception):
    """The cost limit is reached, and no further expression is evaluated. The text is for clients."""


class Compiled(NamedTuple):
    """Expression with its program, or the compile error."""

    expression: str
    program: Program | None
    error: str = ""


class EvaluationResult(NamedTuple):
    """Value of an expression, or the error."""

    value: Any = None
    error: str = ""


class Activation:
    """Variables of one policy or webhook for one request."""

    __slots__ = ("_authority", "_bindings", "_budget", "_variables")

    def __init__(
        self,
        versioned: Versioned,
        request: Object,
        authority: Authority,
        attributes: Attributes,
        *,
        params: Object | None = None,
        namespace: Object | None = None,
    ) -> None:
        self._authority = authority
        self._bindings: dict[str, Any] = {
            "object": versioned.obj,
            "oldObject": versioned.old,
            "request": request,
            "namespaceObject": namespace,
            "params": params,
            "authorizer": authority.value,
            "authorizer.requestResource": authority.request_resource(attributes),
        }
        self._budget = Budget(0)
        self._variables: Mapping[str, Compiled] = {}

    def compose(self, variables: Mapping[str, Compiled]) -> None:
        """Define `variables`. A variable is evaluated when an expression first reads it, and its cost counts for that
        expression.
        """
        self._variables = variables
        self._bindings["variables"] = lazy_variables({name: self._maker(name) for name in variables})

    def _maker(self, name: str) -> Any:
        compiled = self._variables[name]

        def make() -> Any:
            if compiled.program is None:
                raise CelRuntimeError(f'composited variable "{name}" fails to compile: {compiled.error}')
            try:
                return compiled.program.evaluate(self._bindings, self._budget)
            except CelRuntimeError as error:
                raise CelRuntimeError(f'composited variable "{name}" fails to evaluate: {error}') from None

        return make

    async def evaluate(self, compiled: Compiled, budget: Budget) -> EvaluationResult:
        """Return the result of an expression. **Raises** `OutOfBudget`."""
        if compiled.program is None:
            return EvaluationResult(error=f"compilation error: {compiled.error}")
        self._budget = budget
        while True:
            before = budget.remaining
            try:
                return EvaluationResult(await offloaded(compiled.program.evaluate, self._bindings, budget))
            except PendingDecision as pending:
                await self._authority.settle(pending.question)
            except CelBudgetExceeded as error:
                budget.remaining = before - budget.call_max
                if str(error) == OUT_OF_BUDGET or budget.remaining < 0:
                    raise OutOfBudget(OUT_OF_BUDGET) from None
                return EvaluationResult(error=_failed(compiled, error))
            except CelRuntimeError as error:
                return EvaluationResult(error=_failed(compiled, error))


def _failed(compiled: Compiled, error: Exception) -> str:
    return f"expression '{compiled.expression}' resulted in error: {error}"


def request_of(attributes: Attributes, matched: Equivalent) -> Object:
    """Return the fields of the AdmissionReview request except the objects and the uid."""
    gvk, gvr = attributes.gvk, attributes.gvr
    request: Object = {
        "kind": {"group": matched.gvk.group, "version": matched.gvk.version, "kind": matched.gvk.kind},
        "resource": {"group": matched.gvr.group, "version": matched.gvr.version, "resource": matched.gvr.resource},
    }
    if attributes.subresource:
        request["subResource"] = attributes.subresource
    request["requestKind"] = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    request["requestResource"] = {"group": gvr.group, "version": gvr.version, "resource": gvr.resource}
    if attributes.subresource:
        request["requestSubResource"] = attributes.subresource
    if attributes.name:
        request["name"] = attributes.name
    namespace = attributes.namespace
    if not namespace and gvr.resource == "namespaces" and not gvr.group:
        namespace = attributes.name
    if namespace:
        request["namespace"] = namespace
    request["operation"] = attributes.operation
    request["userInfo"] = _user_info(attributes)
    request["dryRun"] = attributes.dry_run
    request["options"] = attributes.options
    return request


def _user_info(attributes: Attributes) -> Object:
    user = attributes.user
    info: Object = {}
    if user is None:
        return info
    info["username"] = user.name
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {name: list(values) for name, values in user.extra.items()}
    return info
