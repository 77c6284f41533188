"""`MutatingPolicy`: a compiled MutatingAdmissionPolicy, and its mutations.

Source: apiserver pkg/admission/plugin/policy/mutating/{compilation,patch/smd,patch/json_patch}.go (1.36).
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.patch import json_patch
from sampan.patch.apply_configuration import merge_configuration
from sampan.schema.cel import Budget, CelCompileError, CelRuntimeError
from sampan.schema.cel.admission import JSON_PATCH, OBJECT, Expressions, name_mismatches
from sampan.schema.cel.native import to_json
from sampan.schema.cel.types import CelType, list_of, struct
from sampan.schema.structural import Schema
from sampan.server.admission.expressions.activation import POLICY_COST_MAX, Activation, Compiled, OutOfBudget
from sampan.server.admission.metrics.policies import type_of_failure
from sampan.server.admission.policy.policy import Policy


class MutationFailed(Exception):
    """A mutation failed; the failure policy decides. The text is for the client."""

    @property
    def type(self) -> str:
        """Return the error type for metrics."""
        return type_of_failure(str(self))


class Mutation(Protocol):
    """Entry of `mutations`."""

    strict: ClassVar[bool]
    """True if unknown fields are errors."""

    async def apply(self, activation: Activation, obj: Object, schema: Schema) -> Object:
        """Return the mutated object as a new one. **Raises** `MutationFailed`."""
        ...


class MutatingPolicy(Policy):
    """Compiled policy with its mutations."""

    def __init__(self, policy: Object) -> None:
        super().__init__(policy)
        spec = policy.get("spec") or {}
        self.may_be_applied_again = spec.get("reinvocationPolicy") == "IfNeeded"
        self.mutations: list[Mutation] = [
            _MUTATIONS[mutation["patchType"]](self.expressions, mutation) for mutation in spec.get("mutations") or ()
        ]


class ApplyConfiguration:
    """`Object{…}`, merged as in server-side apply. Unknown fields are errors."""

    strict: ClassVar[bool] = False

    def __init__(self, expressions: Expressions, mutation: Object) -> None:
        expression = mutation["applyConfiguration"]["expression"]
        self._compiled = _compiled(expressions, expression, struct(OBJECT))
        program = self._compiled.program
        self._mismatches = name_mismatches(program.root) if program is not None else []

    async def apply(self, activation: Activation, obj: Object, schema: Schema) -> Object:
        """Merge the value of the expression. See `Mutation.apply`."""
        config = await _value(self._compiled, activation)
        if self._mismatches:
            raise MutationFailed("type mismatch: " + "\n".join(self._mismatches))
        config |= {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}
        try:
            return merge_configuration(obj, config, schema)
        except ValueError as error:
            raise MutationFailed(f"error applying patch: {error}") from None


class JsonPatcher:
    """`[JSONPatch{…}, …]`. A patch with a failed test changes nothing."""

    strict: ClassVar[bool] = True

    def __init__(self, expressions: Expressions, mutation: Object) -> None:
        self._compiled = _compiled(expressions, mutation["jsonPatch"]["expression"], list_of(JSON_PATCH))
        program = self._compiled.program
        self._mismatches = name_mismatches(program.root) if program is not None else []

    async def apply(self, activation: Activation, obj: Object, schema: Schema) -> Object:
        """Apply the patch. See `Mutation.apply`."""
        operations = await _value(self._compiled, activation)
        if self._mismatches:
            raise MutationFailed("type mismatch: " + "\n".join(self._mismatches))
        try:
            return json_patch.apply_or_explain(obj, operations)
        except json_patch.TestFailedError:
            return obj
        except json_patch.NotApplicableError as error:
            raise MutationFailed(f"JSON Patch: {error}") from None
        except StatusError as error:
            raise MutationFailed(f"JSON Patch: {error.message}") from None


_MUTATIONS: dict[str, Callable[[Expressions, Object], Mutation]] = {
    "ApplyConfiguration": ApplyConfiguration,
    "JSONPatch": JsonPatcher,
}


def _compiled(expressions: Expressions, expression: str, result: CelType) -> Compiled:
    try:
        return Compiled(expression, expressions.compile(expression, (result,), patches=True))
    except CelCompileError as error:
        return Compiled(expression, None, str(error))


async def _value(compiled: Compiled, activation: Activation) -> Any:
    if compiled.program is None:
        raise MutationFailed(compiled.error)
    try:
        result = await activation.evaluate(compiled, Budget(POLICY_COST_MAX))
        if result.error:
            raise MutationFailed(result.error)
        return to_json(result.value)
    except (OutOfBudget, CelRuntimeError) as error:
        raise MutationFailed(str(error)) from None
