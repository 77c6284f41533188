"""`Code`: compiled form of a node of an expression.

A closure takes the frame, a list with the cost so far, the cost limit, and the variables. Costs that do not depend on
data are summed at compile time. They are charged once per branch, at a point after which the branch always completes.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from sampan.schema.cel.declarations import LATE_COSTS, Cost, Overload
from sampan.schema.cel.errors import EVALUATION_ERRORS, CelBudgetExceeded, CelRuntimeError, as_runtime_error
from sampan.schema.cel.types import CelType
from sampan.schema.cel.values import ABSENT, MapList, ObjectValue, OptionalValue, SetList, TextList, UInt, type_name

Frame: TypeAlias = list[Any]
Closure: TypeAlias = Callable[[Frame], Any]

COST, LIMIT = 0, 1
FIRST_VARIABLE = 2


@dataclass(slots=True)
class Code:
    """Closure that evaluates a node, and the constant part of its cost.

    `attribute` is "path" for a variable and for selections from it, "choice" for a ternary, "" for all others. The cost
    of an enclosing node depends on it.
    """

    run: Closure
    cost: int
    constant: Any = ABSENT
    attribute: str = ""
    slot: int = -1
    """Slot in the frame, if this is a variable."""

    @property
    def is_constant(self) -> bool:
        """Report whether the value is a constant."""
        return self.constant is not ABSENT

    @property
    def part_cost(self) -> int:
        """Return the cost as the branch of a ternary, where reading the variable itself is free."""
        return self.cost - 1 if self.attribute == "path" else self.cost


def constant(value: Any) -> Code:
    """Return the code of a constant."""
    return Code(lambda frame: value, 0, value)


def over_limit() -> CelBudgetExceeded:
    """Return the error for an evaluation that exceeds its cost limit."""
    return CelBudgetExceeded("operation cancelled: actual cost limit exceeded")


def charge(frame: Frame, cost: int) -> None:
    """Add to the cost. **Raises** CelBudgetExceeded."""
    frame[COST] += cost
    if frame[COST] > frame[LIMIT]:
        raise over_limit()


_RUNTIME: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "uint": (UInt,),
    "double": (float,),
    "string": (str,),
    "bytes": (bytes,),
    "null": (type(None),),
    "list": (list, SetList, MapList, TextList),
    "map": (dict, ObjectValue),
}
_UNNAMED = frozenset(("contains", "endsWith", "matches", "startsWith"))
"""Functions whose errors contain neither their name nor types."""
_PATTERNS = frozenset(("find", "findAll"))
"""Functions whose errors are as short if the first argument is not a string."""
_NUMBERS = frozenset(("double", "int", "uint"))
_TIMES = frozenset(("google.protobuf.Duration", "google.protobuf.Timestamp"))
_TEXTS = frozenset(("bytes", "string"))
_ORDERED = frozenset(("bool", *_NUMBERS, *_TIMES, *_TEXTS))
_LEFT: dict[str, frozenset[str]] = {
    "_<_": _ORDERED,
    "_<=_": _ORDERED,
    "_>_": _ORDERED,
    "_>=_": _ORDERED,
    "_+_": frozenset(("list", *_NUMBERS, *_TIMES, *_TEXTS)),
    "_-_": _NUMBERS | _TIMES,
    "_*_": _NUMBERS,
    "_/_": _NUMBERS,
    "_%_": frozenset(("int", "uint")),
    "-_": frozenset(("bool", "double", "google.protobuf.Duration", "int")),
}
"""Types of left operands that have an operator."""
_METHODS = _TIMES | {"string"}
"""Types with methods. Their values refuse an operator themselves, so the error does not contain its name."""
_NAMES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "type": "type"}


def fits(kind: CelType, value: Any) -> bool:
    """Report whether a value has a parameter's type, as far as it is checked at run time."""
    if kind.kind in ("dyn", "param", "error"):
        return True
    classes = _RUNTIME.get(kind.kind)
    if classes is not None:
        if type(value) not in classes:
            return False
        return kind.kind != "list" or not value or fits(kind.params[0], value[0])
    if kind.kind == "opaque" and kind.name == "optional_type":
        return type(value) is OptionalValue and (value.value is ABSENT or fits(kind.params[0], value.value))
    return type_name(value) == _NAMES.get(kind.kind, kind.name)


def _certain(kind: CelType, param: CelType) -> bool:
    """Report whether all values of a static type have a parameter's type."""
    if param.kind in ("dyn", "param"):
        return True
    return kind.kind == param.kind and all(map(_certain, kind.params, param.params))


def _dispatched(name: str, overloads: list[Overload]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        for overload in overloads:
            if overload.checks_args or all(map(fits, overload.params, args)):
                return overload.impl(*args)
        raise _no_overload(name, args)

    return call


def _no_overload(name: str, args: tuple[Any, ...]) -> CelRuntimeError:
    """Return the error of a dispatch. Source: cel-go interpreter/interpretable.go (0.26), `evalBinary`."""
    names = [type_name(arg) for arg in args]
    left = _LEFT.get(name)
    if name == "size" or (left is not None and names[0] not in left and names[0] not in _METHODS):
        return CelRuntimeError(f"no such overload: {name}")
    if name in _UNNAMED or not name[0].isalpha() or (name in _PATTERNS and names[0] != "string"):
        return CelRuntimeError("no such overload")
    return CelRuntimeError(f"no such overload: {name}({', '.join(names)})")


def implementation(name: str, overloads: list[Overload], args: list[CelType]) -> tuple[Callable[..., Any], Cost]:
    """Return the function to call, and its cost: the only overload if it is certain, or a run-time dispatch."""
    first = overloads[0]
    if len(overloads) == 1 and all(map(_certain, args, first.params)):
        return first.impl, first.cost
    shared = all(overload.cost is first.cost or overload.cost == first.cost for overload in overloads)
    return _dispatched(name, overloads), first.cost if shared else 1


def _dynamic_call(
    impl: Callable[..., Any], args: list[Closure], cost: Callable[[tuple[Any, ...], Any], int]
) -> Closure:
    def call(frame: Frame) -> Any:
        values = tuple([arg(frame) for arg in args])
        charge(frame, cost(values, None))
        return impl(*values)

    def call_late(frame: Frame) -> Any:
        values = tuple([arg(frame) for arg in args])
        result = impl(*values)
        charge(frame, cost(values, result))
        return result

    return call_late if cost in LATE_COSTS else call


def _constant_cost_call(impl: Callable[..., Any], args: list[Closure]) -> Closure:
    if len(args) == 1:
        only = args[0]
        return lambda frame: impl(only(frame))
    if len(args) == 2:
        left, right = args
        return lambda frame: impl(left(frame), right(frame))
    return lambda frame: impl(*[arg(frame) for arg in args])


def call(impl: Callable[..., Any], args: list[Code], cost: Cost) -> Code:
    """Return the code of a strict function."""
    closures = [arg.run for arg in args]
    total = sum(arg.cost for arg in args)
    if isinstance(cost, int):
        return Code(_constant_cost_call(impl, closures), total + cost)
    return Code(_dynamic_call(impl, closures, cost), total)


def truth(value: Any) -> bool:
    """Return a bool unchanged. **Raises** CelRuntimeError for any other value."""
    if value is True or value is False:
        return bool(value)
    raise CelRuntimeError("no such overload")


def _logical_pair(left: Closure, right: Closure, right_cost: int, stop: bool) -> Closure:
    def run(frame: Frame) -> bool:
        try:
            value: object = left(frame)
            if value is stop:
                return stop
            if value is not (not stop):
                raise CelRuntimeError("no such overload")
        except EVALUATION_ERRORS as error:
            frame[COST] += right_cost
            try:
                other: object = right(frame)
            except EVALUATION_ERRORS:
                other = None  # Both fail: the first error is the one to report.
            if other is stop:
                return stop
            raise as_runtime_error(error) from None
        frame[COST] += right_cost
        return truth(right(frame))

    return run


def _logical_chain(first: Closure, rest: list[tuple[Closure, int]], stop: bool) -> Closure:
    terms = [(first, 0), *rest]

    def run(frame: Frame) -> bool:
        failed: Exception | None = None
        for term, cost in terms:
            frame[COST] += cost
            try:
                value: object = term(frame)
            except EVALUATION_ERRORS as error:
                failed = failed or error
                continue
            if value is stop:
                return stop
            if value is not (not stop):
                failed = failed or CelRuntimeError("no such overload")
        if failed is not None:
            raise as_runtime_error(failed)
        return not stop

    return run


def logical(terms: list[Code], *, stop: bool) -> Code:
    """Return the code of && (`stop=False`) or || (`stop=True`): if one operand determines the result, errors of the
    others are ignored.
    """
    first, *rest = terms
    if len(rest) == 1:
        return Code(_logical_pair(first.run, rest[0].run, rest[0].cost, stop), first.cost)
    return Code(_logical_chain(first.run, [(term.run, term.cost) for term in rest], stop), first.cost)


def choice(condition: Code, yes: Code, no: Code) -> Code:
    """Return the code of a ternary."""
    test, on_true, on_false = condition.run, yes.run, no.run
    shared = min(yes.part_cost, no.part_cost)
    true_cost, false_cost = yes.part_cost - shared, no.part_cost - shared

    def run(frame: Frame) -> Any:
        value = test(frame)
        if value is True:
            frame[COST] += true_cost
            return on_true(frame)
        if value is False:
            frame[COST] += false_cost
            return on_false(frame)
        raise CelRuntimeError("no such overload")

    return Code(run, condition.cost + shared, attribute="choice")


def _size_cost(left: Any, right: Any) -> int:
    return math.ceil(min(len(left), len(right)) * 0.1)


def text_relation(left: Code, right: Code, compare: Callable[[Any, Any], bool]) -> Code:
    """Return the code of a comparison of two strings or two byte strings. The comparison costs 1 even if evaluating an
    operand fails.
    """
    first, second = left.run, right.run
    if right.is_constant and 0 < len(right.constant) <= 10:
        known = right.constant

        def run_short(frame: Frame) -> bool:
            value = first(frame)
            if not value:
                frame[COST] -= 1
            return compare(value, known)

        return Code(run_short, left.cost + right.cost + 1)

    def run(frame: Frame) -> bool:
        one, other = first(frame), second(frame)
        frame[COST] += _size_cost(one, other) - 1
        return compare(one, other)

    return Code(run, left.cost + right.cost + 1)
