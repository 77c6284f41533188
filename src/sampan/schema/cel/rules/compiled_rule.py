"""`CompiledRule`: validation rule with its programs, or its errors.

Source: apiextensions-apiserver pkg/apiserver/schema/cel/compilation.go (1.36).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sampan.schema.cel.environment import Environment, Program
from sampan.schema.cel.errors import CelCompileError, CelSyntaxError, CelTypeError
from sampan.schema.cel.syntax.field_path import FieldPathError, field_path
from sampan.schema.cel.types import CelType
from sampan.schema.cel.values import NONE, OptionalValue
from sampan.schema.structural import Schema, ValidationRule

SELF, OLD_SELF = "self", "oldSelf"
_BASE = Environment({})


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """Rule with its programs; `error` and `message_error` contain the error of an invalid expression."""

    rule: ValidationRule
    program: Program | None = None
    error: str = ""
    message: Program | None = None
    message_error: str = ""
    uses_old_self: bool = False
    field_path: str = ""

    @property
    def text(self) -> str:
        """Return the message of the rule, or its expression, to name it in errors."""
        return (self.rule.message or self.rule.rule).strip()

    @property
    def failure(self) -> str:
        """Return the error message for a failed rule whose messageExpression gives no message."""
        return self.rule.message.strip() if self.rule.message else f"failed rule: {self.rule.rule.strip()}"


def _optional(kind: CelType) -> CelType:
    def wrap(value: Any) -> OptionalValue:
        if value is None:
            return NONE
        return OptionalValue(value if kind.wrap is None else kind.wrap(value))

    return CelType("opaque", "optional_type", (kind,), wrap=wrap)


def _program(environment: Environment, expression: str, result: str, failed: str) -> Program | str:
    """Compile an expression, or return the error. `failed` is the prefix of errors in a messageExpression."""
    try:
        program = environment.compile(expression)
    except (CelSyntaxError, CelTypeError) as error:
        return f"{failed}compilation failed: {error}"
    except CelCompileError as error:
        return f"{failed or 'program '}instantiation failed: {error}"
    if program.result_type.kind != result:
        return f"{'messageExpression' if failed else 'cel expression'} must evaluate to a {result}"
    return program


def compile_rules(schema: Schema, kind: CelType) -> list[CompiledRule]:
    """Compile the rules of one node of a schema, in order. `kind` is the type of its values."""
    plain = _BASE.extended({SELF: kind, OLD_SELF: kind})
    optional: Environment | None = None
    compiled: list[CompiledRule] = []
    for rule in schema.rules:
        environment = plain
        if rule.optional_old_self:
            optional = optional or _BASE.extended({SELF: kind, OLD_SELF: _optional(kind)})
            environment = optional
        compiled.append(_compile(schema, rule, environment))
    return compiled


def _compile(schema: Schema, rule: ValidationRule, environment: Environment) -> CompiledRule:
    if not rule.rule.strip():
        return CompiledRule(rule)
    program = _program(environment, rule.rule, "bool", "")
    if isinstance(program, str):
        return CompiledRule(rule, error=program)
    message: Program | str = ""
    if rule.message_expression:
        message = _program(environment, rule.message_expression, "string", "messageExpression ")
    path = ""
    if rule.field_path:
        try:
            path = field_path(rule.field_path, schema)
        except FieldPathError:
            path = ""
    return CompiledRule(
        rule,
        program,
        message=message if isinstance(message, Program) else None,
        message_error=message if isinstance(message, str) else "",
        uses_old_self=OLD_SELF in program.variables,
        field_path=path,
    )


def has_rules(schema: Schema) -> bool:
    """Report whether a schema has rules at any depth. Schemas may be recursive."""
    seen: set[int] = set()
    stack = [schema]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        if node.rules:
            return True
        seen.add(id(node))
        stack.extend(_children(node))
    return False


def _children(schema: Schema) -> Iterator[Schema]:
    yield from schema.properties.values()
    if schema.items is not None:
        yield schema.items
    if isinstance(schema.additional_properties, Schema):
        yield schema.additional_properties
    if schema.validations is not None:
        yield from schema.validations.all_of
