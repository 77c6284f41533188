"""Functions on lists and sets.

Source: apiserver pkg/cel/library/lists.go (1.36), cel-go ext/{lists,sets,comprehensions}.go (0.26, lists version 3).
"""

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sampan.schema.cel import operators
from sampan.schema.cel.declarations import (
    LIST_CREATE_COST,
    STRING_FACTOR,
    Cost,
    Library,
    Overload,
    first_deep_traversal,
    function,
    late,
    member,
    with_cost,
)
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    CelType,
    list_of,
    map_of,
    param,
)
from sampan.schema.cel.values import ABSENT, Duration, UInt, compare, contains, equal, find_key, size_of, type_name

COMPARABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)
_SUMMABLE: tuple[tuple[CelType, Any], ...] = ((INT, 0), (UINT, UInt(0)), (DOUBLE, 0.0), (DURATION, Duration(0)))
_T = param("T")
_LIST = list_of(_T)
_RANGE_MAX = 1_000_000
_SHOWN = {"list": "list(dyn)", "map": "map(dyn, dyn)"}


def _is_sorted(items: list[Any]) -> bool:
    return all(compare(left, right) <= 0 for left, right in itertools.pairwise(items))


def _sum(zero: Any) -> Callable[[list[Any]], Any]:
    def total(items: list[Any]) -> Any:
        if items and type(items[0]) is not type(zero):
            return functools.reduce(operators.add, items)
        return functools.reduce(operators.add, items, zero)

    return total


def _extreme(name: str, sign: int) -> Callable[[list[Any]], Any]:
    def find(items: list[Any]) -> Any:
        if not items:
            raise CelRuntimeError(f"{name} called on empty list")
        found = items[0]
        for item in items[1:]:
            if compare(found, item) == sign:
                found = item
        return found

    return find


def _index_of(items: list[Any], value: Any) -> int:
    return next((index for index, item in enumerate(items) if equal(item, value)), -1)


def _last_index_of(items: list[Any], value: Any) -> int:
    found = _index_of(items[::-1], value)
    return found if found < 0 else len(items) - 1 - found


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise CelRuntimeError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelRuntimeError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise CelRuntimeError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return list(items[start:end])


def _flatten(items: Any, *depths: Any) -> list[Any]:
    """Flatten a list that may be flat already: its type is not known before."""
    if not isinstance(items, list) or any(type(depth) is not int for depth in depths):
        shown = [_SHOWN.get(name, name) for name in map(type_name, (items, *depths))]
        raise CelRuntimeError(f"no such overload: {shown[0]}.flatten({', '.join(shown[1:])})")
    return _flat(items, depths[0] if depths else 1)


def _flat(items: list[Any], depth: int) -> list[Any]:
    if depth < 0:
        raise CelRuntimeError("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        if isinstance(item, list) and depth:
            flat.extend(_flat(item, depth - 1))
        else:
            flat.append(item)
    return flat


def _sorted_by(items: list[Any], keys: list[Any]) -> list[Any]:
    if len(items) != len(keys):
        raise CelRuntimeError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(items)} and {len(keys)} elements respectively"
        )
    if any(type(key) is not type(keys[0]) for key in keys):
        raise CelRuntimeError("list elements must have the same type")

    def by_key(left: int, right: int) -> int:
        return compare(keys[left], keys[right])

    order = sorted(range(len(keys)), key=functools.cmp_to_key(by_key))
    return [items[index] for index in order]


def _sorted(items: list[Any]) -> list[Any]:
    return _sorted_by(items, items)


def _range(count: int) -> list[int]:
    if count > _RANGE_MAX:
        raise CelRuntimeError("list size exceeds limit")
    return list(range(count))


def _reversed(items: list[Any]) -> list[Any]:
    return list(items[::-1])


def _distinct(items: list[Any]) -> list[Any]:
    found: list[Any] = []
    for item in items:
        if not contains(found, item):
            found.append(item)
    return found


def _intersects(left: list[Any], right: list[Any]) -> bool:
    return any(contains(right, item) for item in left)


def _contains_all(items: list[Any], part: list[Any]) -> bool:
    return all(contains(items, item) for item in part)


def _equivalent(left: list[Any], right: list[Any]) -> bool:
    return _contains_all(left, right) and _contains_all(right, left)


def insert(target: dict[Any, Any], key: Any, value: Any) -> dict[Any, Any]:
    """Return the map with one more entry. **Raises** CelRuntimeError if the key exists."""
    if find_key(target, key) is not ABSENT:
        raise CelRuntimeError(f"insert failed: key {operators.show(key)} already exists")
    return {**target, key: value}


def _insert_all(target: dict[Any, Any], entries: Any) -> dict[Any, Any]:
    for key, value in entries.items():
        target = insert(target, key, value)
    return target


@late
def _result_cost(args: tuple[Any, ...], result: Any) -> int:
    return size_of(result) + LIST_CREATE_COST + 1


def _flatten_cost(args: tuple[Any, ...], result: Any) -> int:
    depth = args[1] if len(args) == 2 and type(args[1]) is int else 1
    return size_of(args[0]) * max(depth, 0) + LIST_CREATE_COST + 1


def _self_compare_cost(position: int) -> Cost:
    def cost(args: tuple[Any, ...], result: Any) -> int:
        items = args[position]
        factor = 2.0
        if items and type_name(items[0]) in ("string", "bytes"):
            factor += STRING_FACTOR
        return int(len(items) ** 2 * factor) + LIST_CREATE_COST + 1

    return cost


def _sets_cost(factor: int) -> Cost:
    def cost(args: tuple[Any, ...], result: Any) -> int:
        return 1 + size_of(args[0]) * size_of(args[1]) * factor

    return cost


def _for_each(name: str, result: CelType | None, impl: Callable[[list[Any]], Any]) -> list[Overload]:
    return [member(name, f"list_{kind}_{name}", (list_of(kind),), result or kind, impl) for kind in COMPARABLE]


_K, _V = param("K"), param("V")
_KV = map_of(_K, _V)

LISTS = Library(
    (
        *with_cost(
            first_deep_traversal,
            (
                *_for_each("isSorted", BOOL, _is_sorted),
                *(member("sum", f"list_{k}_sum_{k}", (list_of(k),), k, _sum(zero)) for k, zero in _SUMMABLE),
                *_for_each("max", None, _extreme("max", -1)),
                *_for_each("min", None, _extreme("min", 1)),
                member("indexOf", "list_a_index_of_int", (_LIST, _T), INT, _index_of),
                member("lastIndexOf", "list_a_last_index_of_int", (_LIST, _T), INT, _last_index_of),
            ),
        ),
        *with_cost(
            _result_cost,
            (
                member("slice", "list_slice", (_LIST, INT, INT), _LIST, _slice),
                function("lists.range", "lists_range", (INT,), list_of(INT), _range),
                member("reverse", "list_reverse", (_LIST,), _LIST, _reversed),
            ),
        ),
        *with_cost(
            _flatten_cost,
            (
                replace(member("flatten", "list_flatten", (list_of(_LIST),), _LIST, _flatten), checks_args=True),
                replace(
                    member("flatten", "list_flatten_int", (list_of(DYN), INT), list_of(DYN), _flatten),
                    checks_args=True,
                ),
            ),
        ),
        *with_cost(
            _self_compare_cost(0),
            (
                *(member("sort", f"list_{kind}_sort", (list_of(kind),), list_of(kind), _sorted) for kind in COMPARABLE),
                member("distinct", "list_distinct", (_LIST,), _LIST, _distinct),
            ),
        ),
        *with_cost(
            _self_compare_cost(1),
            (
                member(
                    "@sortByAssociatedKeys",
                    f"list_{kind}_sortByAssociatedKeys",
                    (_LIST, list_of(kind)),
                    _LIST,
                    _sorted_by,
                )
                for kind in COMPARABLE
            ),
        ),
        function("cel.@mapInsert", "@mapInsert_map_key_value", (_KV, _K, _V), _KV, insert),
        function("cel.@mapInsert", "@mapInsert_map_map", (_KV, _KV), _KV, _insert_all),
    )
)
SETS = Library(
    (
        *with_cost(
            _sets_cost(1), (function("sets.contains", "list_sets_contains_list", (_LIST, _LIST), BOOL, _contains_all),)
        ),
        *with_cost(
            _sets_cost(2),
            (function("sets.equivalent", "list_sets_equivalent_list", (_LIST, _LIST), BOOL, _equivalent),),
        ),
        *with_cost(
            _sets_cost(1),
            (function("sets.intersects", "list_sets_intersects_list", (_LIST, _LIST), BOOL, _intersects),),
        ),
    )
)
