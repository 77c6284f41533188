"""`MatchConditions`: the last filter before a webhook is called or a policy is evaluated.

If any condition is false, there is no match. Otherwise, if any condition fails, the failure policy decides.

Source: apiserver pkg/admission/plugin/webhook/matchconditions/matcher.go (1.36).
"""

from collections.abc import Sequence
from time import perf_counter

from sampan.core.object import Object
from sampan.schema.cel import Budget, CelCompileError
from sampan.schema.cel.admission import Expressions
from sampan.schema.cel.types import BOOL
from sampan.server.admission.expressions.activation import CONDITIONS_COST_MAX, Activation, Compiled, OutOfBudget
from sampan.server.admission.metrics.conditions import RecordEvaluation, ignore_evaluation
from sampan.server.authorization.union import aggregated


class ConditionsFailed(Exception):
    """The conditions cannot be evaluated, and the failure policy is Fail. The text is for clients."""


class MatchConditions:
    """Conditions of one webhook or policy."""

    __slots__ = ("_compiled", "_fail_closed")

    def __init__(self, conditions: Sequence[Object], expressions: Expressions, *, fail_closed: bool) -> None:
        self._compiled = [compiled(expressions, condition["expression"]) for condition in conditions]
        self._fail_closed = fail_closed

    async def match(self, activation: Activation, record: RecordEvaluation = ignore_evaluation) -> bool:
        """Return True if all conditions are true, and record the evaluation. **Raises** `ConditionsFailed`."""
        began, failed = perf_counter(), list[str]()
        try:
            return await self._match(activation, failed)
        finally:
            record(perf_counter() - began, len(failed))

    async def _match(self, activation: Activation, failed: list[str]) -> bool:
        """Evaluate the conditions, and add the error of each failed one to `failed`."""
        budget = Budget(CONDITIONS_COST_MAX)
        for condition in self._compiled:
            try:
                result = await activation.evaluate(condition, budget)
            except OutOfBudget as error:
                return self._unless([str(error)])
            if result.error:
                failed.append(result.error)
            elif result.value is False:
                return False
        return self._unless(failed)

    def _unless(self, failed: Sequence[str]) -> bool:
        if failed and self._fail_closed:
            raise ConditionsFailed(aggregated(failed))
        return not failed


def compiled(expressions: Expressions, expression: str) -> Compiled:
    """Compile a condition. A stored condition may be invalid, because another version has validated it."""
    try:
        return Compiled(expression, expressions.compile(expression, (BOOL,)))
    except CelCompileError as error:
        return Compiled(expression, None, str(error))
