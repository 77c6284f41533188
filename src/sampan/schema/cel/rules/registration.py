"""Validate all rules of a schema when it is registered: syntax, types, cost limits.

Source: apiextensions pkg/apis/apiextensions/validation/{validation,cel_validation}.go (1.36).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sampan.core.field import (
    ErrorType,
    FieldError,
    Path,
    Shown,
    forbidden,
    go_json,
    internal,
    invalid,
    not_supported,
    required,
)
from sampan.schema.cel.cost.budget import REQUEST_SIZE_BYTES_MAX
from sampan.schema.cel.cost.estimate import estimate
from sampan.schema.cel.cost.range import UNBOUNDED
from sampan.schema.cel.environment import Program
from sampan.schema.cel.rules.compiled_rule import OLD_SELF, SELF, CompiledRule, compile_rules, has_rules
from sampan.schema.cel.rules.schema_types import schema_type
from sampan.schema.cel.syntax.escaping import escape
from sampan.schema.cel.syntax.field_path import FieldPathError, field_path
from sampan.schema.cel.types import CelType
from sampan.schema.structural import ListType, Schema, ValidationRule

RULE_COST_MAX = 10_000_000
"""Maximum estimated cost of one rule, multiplied by how often the rule may run on one object."""
SCHEMA_COST_MAX = 100_000_000
"""Maximum sum of the estimated costs of all rules in one schema."""
_REASONS = (ErrorType.DUPLICATE, ErrorType.FORBIDDEN, ErrorType.INVALID, ErrorType.REQUIRED)
_NEWLINES = re.compile(r"[\n\r]+")
_MOST_EXPENSIVE_MAX = 4


def _shown(rule: ValidationRule) -> Shown:
    """Return a rule as error messages show it: with the names and the order of the fields of Kubernetes' type.

    Source: apiextensions pkg/apis/apiextensions/types_jsonschema.go ValidationRule (1.36).
    """
    fields = {
        "Rule": rule.rule,
        "Message": rule.message,
        "MessageExpression": rule.message_expression,
        "Reason": rule.reason or None,
        "FieldPath": rule.field_path,
        "OptionalOldSelf": rule.optional_old_self,
    }
    return Shown(go_json(fields))


@dataclass(slots=True)
class _Totals:
    """Total cost of all rules of a schema, and the most expensive rules."""

    total: int = 0
    expensive: list[tuple[int, Path]] = field(default_factory=list)

    def add(self, path: Path, cost: int) -> None:
        self.total = min(self.total + cost, UNBOUNDED)
        if cost >= SCHEMA_COST_MAX // 100:
            self.expensive.append((cost, path))
            self.expensive.sort(key=lambda entry: -entry[0])
            del self.expensive[_MOST_EXPENSIVE_MAX:]


@dataclass(frozen=True, slots=True)
class _Place:
    """Position of a schema node, with its path and its type, if known from above.

    `times` is how often its values may occur in one object. None: only the object's size limits it. `uncorrelatable` is
    the node above whose items have no old values.
    """

    path: Path
    kind: CelType | None
    times: int | None
    uncorrelatable: Path | None
    is_root: bool = False


class _Registration:
    def __init__(self) -> None:
        self.totals = _Totals()
        self.schema_errors: list[FieldError] = []
        self.cel_errors: list[FieldError] = []

    def visit(self, schema: Schema, place: _Place) -> None:
        """Validate the nodes below, then the node's own rules, which are compiled only if they are well formed."""
        errors_before = len(self.schema_errors)
        for child, below in _children(schema, place):
            self.visit(child, below)
        if not schema.rules:
            return
        for index, rule in enumerate(schema.rules):
            self.schema_errors += _form_errors(schema, rule, _rule_path(place, index))
        if len(self.schema_errors) > errors_before:
            return
        kind = place.kind or schema_type(schema, is_root=place.is_root or schema.embedded_resource)
        if kind is None:
            path = place.path.child("x-kubernetes-validations")
            text = (
                "internal error: failed to construct type information for x-kubernetes-validations rules: "
                "unable to convert structural schema to CEL declarations"
            )
            self.cel_errors.append(internal(path, text))
            return
        for index, compiled in enumerate(compile_rules(schema, kind)):
            self._rule(compiled, kind, replace(place, path=_rule_path(place, index)))

    def _rule(self, compiled: CompiledRule, kind: CelType, place: _Place) -> None:
        path, rule = place.path, compiled.rule
        variables = {SELF: kind, OLD_SELF: kind}
        cost = 0
        if compiled.program is not None:
            cost = self._estimate(compiled.program, variables)
            cost = min(cost * _repetitions(place, kind), UNBOUNDED)
        self._observe(path.child("rule"), "estimated rule cost", cost)
        if compiled.error:
            self.cel_errors.append(invalid(path.child("rule"), _shown(rule), compiled.error))
        if compiled.message_error:
            self.cel_errors.append(invalid(path.child("messageExpression"), _shown(rule), compiled.message_error))
        elif compiled.message is not None:
            cost = self._estimate(compiled.message, variables)
            self._observe(path.child("messageExpression"), "estimated messageExpression cost", cost)
        if compiled.uses_old_self:
            if place.uncorrelatable is not None:
                text = (
                    f"oldSelf cannot be used on the uncorrelatable portion of the schema within {place.uncorrelatable}"
                )
                self.cel_errors.append(invalid(path.child("rule"), rule.rule, text))
        elif rule.optional_old_self is not None:
            text = "may not be set if oldSelf is not used in rule"
            self.cel_errors.append(invalid(path.child("optionalOldSelf"), rule.optional_old_self, text))

    def _estimate(self, program: Program, variables: dict[str, CelType]) -> int:
        return estimate(program.root, variables).high

    def _observe(self, path: Path, name: str, cost: int) -> None:
        if cost > RULE_COST_MAX:
            self.cel_errors.append(forbidden(path, cost_error(name, cost, RULE_COST_MAX)))
        self.totals.add(path, cost)


def cost_error(name: str, cost: int, cost_max: int) -> str:
    """Return the error message for an estimate above its limit."""
    factor = cost / cost_max
    shown = "more than 100x" if factor > 100 else f"{factor:.6f}x" if factor < 1.5 else f"{factor:.1f}x"
    return (
        f"{name} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems, maxProperties, "
        "and maxLength where arrays, maps, and strings are declared)"
    )


def _rule_path(place: _Place, index: int) -> Path:
    return place.path.child("x-kubernetes-validations").index(index)


def _repetitions(place: _Place, kind: CelType) -> int:
    if place.times is not None:
        return place.times
    return REQUEST_SIZE_BYTES_MAX // (kind.min_size_bytes + 1)


def _form_errors(schema: Schema, rule: ValidationRule, path: Path) -> Iterator[FieldError]:
    """Yield the errors in a rule that do not depend on its expressions."""
    text, message = rule.rule.strip(), rule.message.strip()
    if not text:
        yield required(path.child("rule"), "rule is not specified")
    elif rule.message and not message:
        yield invalid(path.child("message"), rule.message, "must be non-empty if specified")
    elif _NEWLINES.search(message):
        yield invalid(path.child("message"), rule.message, "must not contain line breaks")
    elif _NEWLINES.search(text) and not message:
        yield required(path.child("message"), "message must be specified if rule contains line breaks")
    if rule.message_expression and not rule.message_expression.strip():
        yield required(path.child("messageExpression"), "messageExpression must be non-empty if specified")
    if rule.reason and rule.reason not in _REASONS:
        yield not_supported(path.child("reason"), rule.reason, _REASONS)
    if not rule.field_path:
        return
    if not rule.field_path.strip():
        yield invalid(path.child("fieldPath"), rule.field_path, "must be non-empty if specified")
    if _NEWLINES.search(rule.field_path):
        yield invalid(path.child("fieldPath"), rule.field_path, "must not contain line breaks")
    try:
        field_path(rule.field_path, schema)
    except FieldPathError:
        yield invalid(path.child("fieldPath"), rule.field_path, "must be a valid path")


def _children(schema: Schema, place: _Place) -> Iterator[tuple[Schema, _Place]]:
    """Yield the child nodes and their positions. Child positions contain a type only below nodes with rules."""
    limits = schema.validations
    kind = place.kind
    if isinstance(schema.additional_properties, Schema):
        count = limits.max_properties if limits is not None else None
        yield (
            schema.additional_properties,
            _Place(
                place.path.child("additionalProperties"),
                kind.params[1] if kind is not None and kind.kind == "map" else None,
                _multiplied(place.times, count),
                place.uncorrelatable,
            ),
        )
    times = _multiplied(place.times, None) if isinstance(schema.additional_properties, Schema) else place.times
    for key, child in schema.properties.items():
        identifier = escape(key)
        below = kind.fields.get(identifier) if kind is not None and identifier is not None else None
        yield child, _Place(place.path.child("properties").key(key), below, times, place.uncorrelatable)
    if schema.items is not None:
        count = limits.max_items if limits is not None else None
        blocked = place.uncorrelatable if schema.list_type is ListType.MAP else place.uncorrelatable or place.path
        below = kind.params[0] if kind is not None and kind.kind == "list" else None
        yield schema.items, _Place(place.path.child("items"), below, _multiplied(place.times, count), blocked)


def _multiplied(times: int | None, count: int | None) -> int | None:
    if times is None or count is None:
        return None
    return min(times * max(count, 0), UNBOUNDED)


def rule_errors(schema: Schema, path: Path) -> list[FieldError]:
    """Return the errors of all rules of a structural schema of a whole object; `path` is that of `openAPIV3Schema`."""
    if not has_rules(schema):
        return []
    registration = _Registration()
    registration.visit(schema, _Place(path, schema_type(schema, is_root=True), 1, None, is_root=True))
    errors = [*registration.schema_errors, *registration.cel_errors]
    totals = registration.totals
    if totals.total > SCHEMA_COST_MAX:
        text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        errors += [forbidden(expensive, text) for _, expensive in totals.expensive]
        name = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        errors.append(forbidden(path, cost_error(name, totals.total, SCHEMA_COST_MAX)))
    return errors
