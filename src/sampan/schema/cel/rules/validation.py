"""Validate objects by the rules of their schema (`x-kubernetes-validations`), within a cost budget.

Source: apiextensions-apiserver pkg/apiserver/schema/cel/validation.go (1.36).
"""

from time import perf_counter
from typing import Any

from sampan.core import field
from sampan.core.field import OMIT_VALUE, ErrorType, FieldError, Path
from sampan.schema.cel.cost.budget import OUT_OF_BUDGET, Budget
from sampan.schema.cel.environment import Program
from sampan.schema.cel.errors import CelBudgetExceeded, CelRuntimeError
from sampan.schema.cel.rules.cel_times import CelTimes
from sampan.schema.cel.rules.compiled_rule import OLD_SELF, SELF, CompiledRule, compile_rules, has_rules
from sampan.schema.cel.rules.schema_types import schema_type
from sampan.schema.cel.syntax.escaping import escape
from sampan.schema.cel.types import CelType
from sampan.schema.structural import UNSET, ListType, Schema
from sampan.schema.validation.predicate import map_key
from sampan.schema.validation.ratchet import item_old, items_old, property_old, same
from sampan.schema.work import begin_steps, end_steps

MESSAGE_SIZE_BYTES_MAX = 5 * 1024
"""Size limit of the result of a messageExpression."""


_EMPTY: dict[str, Any] = {}


class _Exhausted(Exception):
    """Stops the validation, because the cost budget is exhausted."""


class _Change:
    """New and old value of a node. The values are compared on first use."""

    __slots__ = ("_same", "new", "old", "schema")

    def __init__(self, schema: Schema | None, new: Any, old: Any) -> None:
        self.schema = schema
        self.new = new
        self.old = old
        self._same: bool | None = None

    @property
    def is_none(self) -> bool:
        if self._same is None:
            self._same = self.schema is not None and same(self.schema, self.new, self.old)
        return self._same

    def at_key(self, key: str) -> "_Change | None":
        if self.schema is None or type(self.new) is not dict:
            return None
        child, before = property_old(self.schema, self.old, key)
        return None if before is UNSET or child is None else _Change(child, self.new[key], before)

    def at_index(self, index: int) -> "_Change | None":
        if self.schema is None or type(self.new) is not list:
            return None
        item = self.new[index]
        before = item_old(self.schema, item, items_old(self.schema, self.old))
        return None if before is UNSET else _Change(self.schema.items, item, before)


class _Ratchet:
    """Decides whether the errors of a node are dropped.

    They are dropped if the node did not change; or, if it has no old value, if the node that contains it did not
    change.
    """

    __slots__ = ("_change", "_nearest")

    def __init__(self, change: _Change | None, nearest: _Change | None = None) -> None:
        self._change = change
        self._nearest = nearest

    def drops_errors(self) -> bool:
        """Report whether to drop errors. Compares the values only when there is an error."""
        change = self._change or self._nearest
        return change is not None and change.is_none

    def at_key(self, key: str) -> "_Ratchet":
        """Return the ratchet of a property. Errors of apiVersion and kind at the root are never dropped."""
        if self._change is None:
            return self
        if self._nearest is None and key in ("apiVersion", "kind"):
            return _NO_RATCHET
        return _Ratchet(self._change.at_key(key), self._change)

    def at_index(self, index: int) -> "_Ratchet":
        """Return the ratchet of an item."""
        return self if self._change is None else _Ratchet(self._change.at_index(index), self._change)

    def without_own(self) -> "_Ratchet":
        """Return the ratchet of a branch of allOf, which has no separate old value."""
        return _Ratchet(None, self._nearest)


_NO_RATCHET = _Ratchet(None)
_CHILD, _KEY, _INDEX, _BRANCH = range(4)
_Place = tuple[Any, int, Any]
"""Position of a value: the position above (None at the root), the kind of the step and its key.

Paths are built from it only for errors.
"""


def _steps(place: _Place | None) -> list[tuple[int, Any]]:
    steps: list[tuple[int, Any]] = []
    while place is not None:
        place, kind, key = place
        steps.append((kind, key))
    return steps[::-1]


class _Run:
    """State of one validation. Paths and unchanged values are computed only for errors."""

    __slots__ = ("_path", "_ratchet", "budget", "errors")

    def __init__(self, budget: Budget, path: Path, ratchet: _Ratchet) -> None:
        self.budget = budget
        self.errors: list[FieldError] = []
        self._path = path
        self._ratchet = ratchet

    def stop(self, error: FieldError) -> _Exhausted:
        self.errors.append(error)
        return _Exhausted()

    def path(self, place: _Place | None) -> Path:
        path = self._path
        for kind, key in _steps(place):
            if kind == _CHILD:
                path = path.child(key)
            elif kind == _KEY:
                path = path.key(key)
            elif kind == _INDEX:
                path = path.index(key)
        return path

    def drops_errors(self, place: _Place | None) -> bool:
        ratchet = self._ratchet
        for kind, key in _steps(place):
            if kind == _BRANCH:
                ratchet = ratchet.without_own()
            else:
                ratchet = ratchet.at_index(key) if kind == _INDEX else ratchet.at_key(key)
        return ratchet.drops_errors()


class _Node:
    """Rules of a schema node and of the nodes below it. It exists only for nodes with rules and their ancestors."""

    __slots__ = ("all_of", "items", "properties", "rules", "schema", "values")

    def __init__(self, schema: Schema, rules: list[CompiledRule]) -> None:
        self.schema = schema
        self.rules = rules
        self.items: _Node | None = None
        self.values: _Node | None = None
        self.properties: dict[str, _Node] = {}
        self.all_of: list[_Node] = []

    def validate(self, run: _Run, place: _Place | None, new: Any, old: Any) -> None:
        """Add the errors of a value to the run. `old` is None if there is no corresponding value."""
        if new is None:
            return
        if self.rules:
            self._validate_rules(run, place, new, old)
        for part in self.all_of:
            part.validate(run, (place, _BRANCH, None), new, old)
        if type(new) is dict:
            self._validate_map(run, place, new, old if type(old) is dict else _EMPTY)
        elif type(new) is list and self.items is not None:
            self._validate_list(run, place, new, old if type(old) is list else [])

    def _validate_map(self, run: _Run, place: _Place | None, new: dict[str, Any], old: dict[str, Any]) -> None:
        if self.values is not None:
            for key, value in new.items():
                self.values.validate(run, (place, _KEY, key), value, old.get(key))
        for key, node in self.properties.items():
            if key in new:
                node.validate(run, (place, _CHILD, key), new[key], old.get(key))

    def _validate_list(self, run: _Run, place: _Place | None, new: list[Any], old: list[Any]) -> None:
        assert self.items is not None
        before: dict[Any, Any] = {}
        keys = self.schema.list_map_keys
        if old and self.schema.list_type is ListType.MAP:
            before = {map_key(item, keys): item for item in reversed(old)}
        for index, value in enumerate(new):
            corresponding = before.get(map_key(value, keys)) if before else None
            self.items.validate(run, (place, _INDEX, index), value, corresponding)

    def _validate_rules(self, run: _Run, place: _Place | None, new: Any, old: Any) -> None:
        if run.budget.remaining <= 0:
            raise run.stop(field.invalid(run.path(place), self.schema.type, OUT_OF_BUDGET))
        bindings = {SELF: new, OLD_SELF: old}
        for rule in self.rules:
            if rule.program is None:
                if rule.error:
                    text = f"rule compile error: {rule.error}"
                    run.errors.append(field.invalid(run.path(place), self.schema.type, text))
                continue
            if rule.uses_old_self and old is None and not rule.rule.optional_old_self:
                continue
            if self._holds(run, place, rule, rule.program, bindings):
                continue
            error = self._failure(run, run.path(place), rule, bindings)
            if rule.uses_old_self or not run.drops_errors(place):
                run.errors.append(error)

    def _holds(
        self, run: _Run, place: _Place | None, rule: CompiledRule, program: Program, bindings: dict[str, Any]
    ) -> bool:
        """Evaluate a rule. If the evaluation fails, add its error and return True, because it is already reported."""
        kind = self.schema.type
        try:
            return program.evaluate(bindings, run.budget) is True
        except CelBudgetExceeded as error:
            text = str(error)
            if text != OUT_OF_BUDGET:
                text = (
                    f"'{text}': no further validation rules will be run due to call cost exceeds limit "
                    f"for rule: {rule.text}"
                )
            raise run.stop(field.invalid(run.path(place), kind, text)) from None
        except CelRuntimeError as error:
            text = str(error)
            if text.startswith("no such overload"):
                text = (
                    f"'{text}': call arguments did not match a supported operator, function or macro signature "
                    f"for rule: {rule.text}"
                )
            else:
                text = f"{text} evaluating rule: {rule.text}"
            run.errors.append(field.invalid(run.path(place), kind, text))
            return True

    def _failure(self, run: _Run, path: Path, rule: CompiledRule, bindings: dict[str, Any]) -> FieldError:
        if rule.field_path:
            path = path.child(rule.field_path)
        detail = None
        if rule.message is not None:
            detail = self._message(run, path, rule, rule.message, bindings)
        value = OMIT_VALUE if self.schema.type in ("object", "array") else bindings[SELF]
        return _error(path, value, rule.failure if detail is None else detail, rule.rule.reason)

    def _message(
        self, run: _Run, path: Path, rule: CompiledRule, message: Program, bindings: dict[str, Any]
    ) -> str | None:
        try:
            text = message.evaluate(bindings, run.budget)
        except CelBudgetExceeded as error:
            shown = "messageExpression evaluation failed due to running out of cost budget, "
            shown += "no further validation rules will be run"
            if str(error) != OUT_OF_BUDGET:
                shown = "no further validation rules will be run due to call cost exceeds limit for messageExpression: "
                shown += field.quote(rule.rule.message_expression)
            raise run.stop(field.invalid(path, self.schema.type, shown)) from None
        except CelRuntimeError:
            return None
        text = text.strip() if isinstance(text, str) else ""
        if not text or "\n" in text or len(text.encode(errors="replace")) > MESSAGE_SIZE_BYTES_MAX:
            return None
        return text


def _error(path: Path, value: Any, detail: str, reason: str) -> FieldError:
    if reason == ErrorType.FORBIDDEN:
        return field.forbidden(path, detail)
    if reason == ErrorType.REQUIRED:
        return field.required(path, detail)
    if reason == ErrorType.DUPLICATE:
        return field.duplicate(path, value)
    return field.invalid(path, value, detail)


def _build(rules: Schema, schema: Schema, kind: CelType | None) -> _Node | None:
    """Build the node of a schema. `rules` is the schema itself, or a branch of its allOf."""
    if kind is None or not has_rules(rules):
        return None
    compiled = compile_rules(_with_rules_of(rules, schema), kind) if rules.rules else []
    node = _Node(schema, compiled)
    if rules.items is not None and schema.items is not None and kind.params:
        node.items = _build(rules.items, schema.items, kind.params[0])
    below = schema.additional_properties
    if isinstance(rules.additional_properties, Schema) and isinstance(below, Schema) and len(kind.params) == 2:
        node.values = _build(rules.additional_properties, below, kind.params[1])
    for key, child in rules.properties.items():
        built = _build_property(child, schema.properties.get(key), key, kind)
        if built is not None:
            node.properties[key] = built
    if rules.validations is not None:
        parts = (_build(part, schema, kind) for part in rules.validations.all_of)
        node.all_of = [part for part in parts if part is not None]
    return node


def _build_property(rules: Schema, schema: Schema | None, key: str, parent: CelType) -> _Node | None:
    if schema is None or not has_rules(rules):
        return None
    identifier = escape(key)
    if identifier is None:
        kind = schema_type(schema, is_root=schema.embedded_resource)
    else:
        kind = parent.fields.get(identifier)
    return _build(rules, schema, kind)


def _with_rules_of(rules: Schema, schema: Schema) -> Schema:
    if rules is schema:
        return schema
    return Schema(
        type=schema.type,
        properties=schema.properties,
        additional_properties=schema.additional_properties,
        items=schema.items,
        rules=rules.rules,
    )


class Validator:
    """Compiled rules of a whole schema; create one for each version of a CRD."""

    def __init__(self, schema: Schema, *, is_root: bool = True, times: CelTimes | None = None) -> None:
        """Compile the rules. `times` records the durations of compilation and evaluation."""
        self._schema = schema
        self._node: _Node | None = None
        self._evaluated = times.evaluated if times is not None else None
        if has_rules(schema):
            began = perf_counter()
            self._node = _build(schema, schema, schema_type(schema, is_root=is_root))
            if times is not None:
                times.compiled(perf_counter() - began)

    @property
    def has_rules(self) -> bool:
        """Report whether the schema has any rules."""
        return self._node is not None

    def validate(
        self, obj: Any, old: Any = UNSET, path: Path | None = None, budget: Budget | None = None
    ) -> list[FieldError]:
        """Return the errors of an object that all other parts of its schema accept.

        With `old`, the object before an update, transition rules run and errors in unchanged values are dropped. The
        default `budget` is the cost limit of one object.
        """
        if self._node is None:
            return []
        updating = old is not UNSET and old is not None
        ratchet = _Ratchet(_Change(self._schema, obj, old)) if updating else _NO_RATCHET
        run = _Run(budget if budget is not None else Budget(), path or Path(), ratchet)
        began, steps = perf_counter(), begin_steps()
        try:
            self._node.validate(run, None, obj, old if updating else None)
        except _Exhausted:
            return run.errors
        finally:
            end_steps(steps)
            if self._evaluated is not None:
                self._evaluated(perf_counter() - began)
        return run.errors
