"""Code of comprehensions: each macro has its own loop, with the cost of evaluating the macro's expansion.

Source of the costs: cel-go interpreter/runtimecost.go (0.26), applied to the expansions of `syntax/macros.py`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from sampan.schema.cel.compiling.code import COST, LIMIT, Code, Frame, charge, over_limit, truth
from sampan.schema.cel.declarations import LIST_CREATE_COST
from sampan.schema.cel.errors import EVALUATION_ERRORS, CelRuntimeError, as_runtime_error
from sampan.schema.cel.library.lists import insert
from sampan.schema.cel.values import ABSENT, FieldMap, MapList, ObjectValue, SetList, TextList, class_name

_LISTS = frozenset((list, SetList, MapList, TextList))


def _single(value: Any) -> Iterable[Any]:
    kind = type(value)
    if kind in _LISTS:
        return value  # type: ignore[no-any-return]  # a list, by its type
    if kind is dict:
        return list(value)
    if kind is FieldMap:
        return list(value.values())
    if kind is ObjectValue:
        return [key for key, _ in value.items()]
    raise CelRuntimeError(f"got '{class_name(value)}', expected iterable type")


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    kind = type(value)
    if kind in _LISTS:
        return enumerate(value)
    if kind is dict or kind is ObjectValue:
        return list(value.items())
    raise CelRuntimeError(f"unsupported comprehension range type: {class_name(value)}")


Bind: TypeAlias = Callable[[Frame, Any], Iterator[None]]
"""Function that puts the variables of each iteration into the frame."""


def binder(first: int, second: int | None) -> Bind:
    """Return the function that iterates over a range with one variable (elements or keys) or two (index or key, and
    value).
    """

    def single(frame: Frame, value: Any) -> Iterator[None]:
        for frame[first] in _single(value):
            yield

    def double(frame: Frame, value: Any) -> Iterator[None]:
        assert second is not None
        for frame[first], frame[second] in _pairs(value):
            yield

    return single if second is None else double


def quantifier(source: Code, bind: Bind, predicate: Code, *, stop: bool) -> Code:
    """Return the code of `all` (`stop=False`) and `exists` (`stop=True`)."""
    values, test = source.run, predicate.run
    condition_cost = 3 if stop else 2
    round_cost = condition_cost + 1 + predicate.cost
    go_on = not stop

    def run(frame: Frame) -> bool:
        failed: Exception | None = None
        iterations = bind(frame, values(frame))
        for _ in iterations:
            frame[COST] += round_cost
            if frame[COST] > frame[LIMIT]:
                raise over_limit()
            try:
                value: object = test(frame)
            except EVALUATION_ERRORS as error:
                failed = failed or error
                continue
            if value is go_on:
                continue
            if value is stop:
                if next(iterations, ABSENT) is not ABSENT:
                    frame[COST] += condition_cost
                return stop
            failed = failed or CelRuntimeError("no such overload")
        if failed is not None:
            raise as_runtime_error(failed)
        return go_on

    return Code(run, source.cost + 1)


def exactly_one(source: Code, bind: Bind, predicate: Code) -> Code:
    """Return the code of `exists_one`."""
    values, test, round_cost = source.run, predicate.run, predicate.cost

    def run(frame: Frame) -> bool:
        found = 0
        for _ in bind(frame, values(frame)):
            charge(frame, round_cost)
            if truth(test(frame)):
                frame[COST] += 2
                found += 1
        return found == 1

    return Code(run, source.cost + 2)


def to_list(source: Code, bind: Bind, predicate: Code | None, transform: Code) -> Code:
    """Return the code of `map`, `filter` and `transformList`."""
    values, make = source.run, transform.run
    made_cost = 2 + transform.cost
    if not transform.is_constant:
        made_cost += LIST_CREATE_COST
    test = predicate.run if predicate is not None else None
    test_cost = predicate.cost if predicate is not None else 0

    def run(frame: Frame) -> list[Any]:
        result: list[Any] = []
        for _ in bind(frame, values(frame)):
            frame[COST] += test_cost
            if test is None or truth(test(frame)):
                frame[COST] += made_cost
                result.append(make(frame))
            if frame[COST] > frame[LIMIT]:
                raise over_limit()
        return result

    return Code(run, source.cost + 1)


def to_map(source: Code, bind: Bind, predicate: Code | None, transform: Code, key_slot: int | None) -> Code:
    """Return the code of `transformMap` (with the slot of its key) and `transformMapEntry` (without)."""
    values, make = source.run, transform.run
    made_cost = transform.cost + (2 if key_slot is None else 3)
    test = predicate.run if predicate is not None else None
    test_cost = predicate.cost if predicate is not None else 0

    def run(frame: Frame) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for _ in bind(frame, values(frame)):
            frame[COST] += test_cost
            if test is None or truth(test(frame)):
                frame[COST] += made_cost
                made = make(frame)
                if key_slot is not None:
                    result[frame[key_slot]] = made
                else:
                    for key, value in made.items():
                        result = insert(result, key, value)
            if frame[COST] > frame[LIMIT]:
                raise over_limit()
        return result

    return Code(run, source.cost + 1)


def local(slot: int, value: Code, body: Code) -> Code:
    """Return the code of a local variable."""
    compute, use = value.run, body.run

    def run(frame: Frame) -> Any:
        frame[slot] = compute(frame)
        return use(frame)

    return Code(run, value.cost + body.cost)


def comprehension(
    kind: str, source: Code, slots: tuple[int, int | None], predicate: Code | None, transform: Code | None
) -> Code:
    """Return the code of the macro of this name."""
    bind = binder(*slots)
    if transform is not None:
        if kind == "map":
            return to_list(source, bind, predicate, transform)
        return to_map(source, bind, predicate, transform, slots[0] if kind == "transform_map" else None)
    assert predicate is not None
    if kind == "exists_one":
        return exactly_one(source, bind, predicate)
    return quantifier(source, bind, predicate, stop=kind == "exists")
