"""`ValidatingPolicy`: a compiled ValidatingAdmissionPolicy, and its evaluation for one parameter.

Source: apiserver pkg/admission/plugin/policy/validating/validator.go (1.36).
"""

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from sampan.core.errors import Reason
from sampan.core.object import Object
from sampan.schema.cel import Budget, CelCompileError
from sampan.schema.cel.types import BOOL, NULL, STRING, CelType
from sampan.schema.cel.values import type_name
from sampan.server.admission.expressions.activation import POLICY_COST_MAX, Activation, Compiled, OutOfBudget
from sampan.server.admission.expressions.conditions import ConditionsFailed
from sampan.server.admission.metrics.conditions import RecordEvaluation, ignore_evaluation
from sampan.server.admission.metrics.policies import type_of_failure
from sampan.server.admission.policy.policy import Policy

_MESSAGE_BYTES_MAX = 5 * 1024


class ValidationDecision(NamedTuple):
    """Result of validation `number`. `error` distinguishes a failed expression from a refusal."""

    number: int
    allowed: bool
    message: str = ""
    reason: str = Reason.INVALID
    error: bool = False
    seconds: float = 0.0

    @property
    def error_type(self) -> str:
        """Return the error type for metrics."""
        if self.allowed and not self.error:
            return "no_error"
        return type_of_failure(self.message)


class Annotation(NamedTuple):
    """Audit annotation, or `error` if its expression failed."""

    key: str
    value: str = ""
    error: str = ""


class ValidateResult(NamedTuple):
    """Results of a policy for one request and one parameter."""

    decisions: list[ValidationDecision]
    annotations: list[Annotation]


class _Validation(NamedTuple):
    expression: Compiled
    message: str
    message_expression: Compiled | None
    reason: str

    @property
    def failure(self) -> str:
        """Return the default message."""
        return self.message or f"failed expression: {self.expression.expression.strip()}"


class ValidatingPolicy(Policy):
    """Compiled policy with its validations."""

    def __init__(self, policy: Object) -> None:
        super().__init__(policy)
        spec = policy.get("spec") or {}
        self._validations = [self._validation(each) for each in spec.get("validations") or ()]
        self._annotations = [
            (each["key"], self._compiled(each["valueExpression"], (STRING, NULL)))
            for each in spec.get("auditAnnotations") or ()
        ]

    def _validation(self, validation: Object) -> _Validation:
        message = validation.get("messageExpression")
        return _Validation(
            self._compiled(validation["expression"], (BOOL,)),
            (validation.get("message") or "").strip(),
            self._compiled(message, (STRING,), authorizer=False) if message else None,
            validation.get("reason") or Reason.INVALID,
        )

    def _compiled(self, expression: str, results: Iterable[CelType], *, authorizer: bool = True) -> Compiled:
        try:
            return Compiled(expression, self.expressions.compile(expression, results, authorizer=authorizer))
        except CelCompileError as error:
            return Compiled(expression, None, str(error))

    async def evaluate(self, activation: Activation, record: RecordEvaluation = ignore_evaluation) -> ValidateResult:
        """Evaluate validations and annotations within the budget. `record` receives the evaluation of the match
        conditions.
        """
        activation.compose(self.variables)
        try:
            if self.conditions is not None and not await self.conditions.match(activation, record):
                return ValidateResult([], [])
            budget = Budget(POLICY_COST_MAX)
            decisions = [
                await self._decide(index, each, activation, budget) for index, each in enumerate(self._validations)
            ]
            budget = Budget(POLICY_COST_MAX)
            annotations = [await self._annotate(key, each, activation, budget) for key, each in self._annotations]
            return ValidateResult(decisions, [each for each in annotations if each is not None])
        except (ConditionsFailed, OutOfBudget) as error:
            return ValidateResult([self._fault(0, str(error))], [])

    def _fault(self, index: int, text: str, seconds: float = 0.0) -> ValidationDecision:
        return ValidationDecision(index, self.fails_open, text, "", error=True, seconds=seconds)

    async def _decide(
        self, index: int, each: _Validation, activation: Activation, budget: Budget
    ) -> ValidationDecision:
        began = time.perf_counter()
        result = await activation.evaluate(each.expression, budget)
        seconds = time.perf_counter() - began
        if result.error:
            return self._fault(index, result.error, seconds)
        if result.value is True:
            return ValidationDecision(index, True, seconds=seconds)
        try:
            message = await _message(each, activation, budget)
        except OutOfBudget as error:
            return self._fault(index, f"failed messageExpression: {error}", seconds)
        return ValidationDecision(index, False, message or each.failure, each.reason, seconds=seconds)

    async def _annotate(self, key: str, each: Compiled, activation: Activation, budget: Budget) -> Annotation | None:
        result = await activation.evaluate(each, budget)
        if result.error:
            return None if self.fails_open else Annotation(key, error=result.error)
        value: Any = result.value
        if value is None:
            return None
        if not isinstance(value, str):
            text = f"valueExpression '{each.expression}' resulted in unsupported return type: {type_name(value)}. "
            return Annotation(key, error=f"{text}Return type must be either string or null.")
        return Annotation(key, value.strip()) if value.strip() else None


async def _message(each: _Validation, activation: Activation, budget: Budget) -> str:
    """Return the text of messageExpression, or "" if it has no valid text."""
    if each.message_expression is None:
        return ""
    result = await activation.evaluate(each.message_expression, budget)
    if not isinstance(result.value, str):
        return ""
    text = result.value.strip()
    return "" if "\n" in text or len(text.encode()) > _MESSAGE_BYTES_MAX else text
