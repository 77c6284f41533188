"""`Overload`: signature, implementation and cost of a function; and helpers that build libraries."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sampan.schema.cel.types import CelType
from sampan.schema.cel.values import size_of

Cost: TypeAlias = int | Callable[[tuple[Any, ...], Any], int]
"""Cost of a call: a constant, or a function of the arguments (receiver first) and the result."""

LATE_COSTS: set[Callable[[tuple[Any, ...], Any], int]] = set()
"""Costs that depend on the result. All others are charged before the call, so that a call beyond the limit never
starts.
"""

STRING_FACTOR = 0.1
REGEX_FACTOR = 0.25
LIST_CREATE_COST = 10
MAP_CREATE_COST = 30
STRUCT_CREATE_COST = 40
SELECTOR_REQUIREMENT_COST = LIST_CREATE_COST + STRUCT_CREATE_COST
"""Cost of one requirement of a field or label selector."""
SELECTOR_REQUIREMENT_LENGTH_MIN = 2
"""Length of the shortest requirement: `k,`."""


@dataclass(frozen=True, slots=True)
class Overload:
    """Signature of a function. `params` starts with the receiver if `member`."""

    function: str
    id: str
    params: tuple[CelType, ...]
    result: CelType
    impl: Callable[..., Any]
    member: bool = False
    cost: Cost = 1
    checks_args: bool = False
    """True if `impl` checks the types of its arguments: a dispatch at run time passes all values."""


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """Functions and types that extend an environment. Libraries are module constants, compared by identity."""

    overloads: tuple[Overload, ...] = ()
    types: tuple[CelType, ...] = ()


def late(cost: Callable[[tuple[Any, ...], Any], int]) -> Callable[[tuple[Any, ...], Any], int]:
    """Mark a cost function that needs the result of the call, so it runs after the call."""
    LATE_COSTS.add(cost)
    return cost


def member(name: str, key: str, params: tuple[CelType, ...], result: CelType, impl: Callable[..., Any]) -> Overload:
    """Declare a method: `params[0]` is the receiver. It costs 1; see `with_cost`."""
    return Overload(name, key, params, result, impl, member=True)


def function(name: str, key: str, params: tuple[CelType, ...], result: CelType, impl: Callable[..., Any]) -> Overload:
    """Declare a global function. It costs 1; see `with_cost`."""
    return Overload(name, key, params, result, impl)


def with_cost(cost: Cost, overloads: Iterable[Overload]) -> tuple[Overload, ...]:
    """Return the overloads with another cost."""
    return tuple(replace(overload, cost=cost) for overload in overloads)


def by_name(overloads: Iterable[Overload]) -> dict[str, list[Overload]]:
    """Return the overloads by function name, in the order of their declaration."""
    table: dict[str, list[Overload]] = {}
    for overload in overloads:
        table.setdefault(overload.function, []).append(overload)
    return table


def traversal(length: int, times: int = 1) -> int:
    """Return the cost of traversing a string."""
    return math.ceil(length * times * STRING_FACTOR)


def first_traversal(args: tuple[Any, ...], result: Any) -> int:
    """Return the cost of traversing the first argument once."""
    return math.ceil(size_of(args[0]) * STRING_FACTOR)


def first_traversal_twice(args: tuple[Any, ...], result: Any) -> int:
    """Return the cost of traversing the first argument and of writing a result of its size."""
    return math.ceil(size_of(args[0]) * 2 * STRING_FACTOR)


def smaller_traversal(args: tuple[Any, ...], result: Any) -> int:
    """Return the cost of comparing two values."""
    return math.ceil(min(size_of(args[0]), size_of(args[1])) * STRING_FACTOR)


def both_traversals(args: tuple[Any, ...], result: Any) -> int:
    """Return the cost of concatenating two strings."""
    return math.ceil((size_of(args[0]) + size_of(args[1])) * STRING_FACTOR)


def regex_cost(text_length: int, pattern_length: int) -> int:
    """Return the cost of matching a pattern."""
    return math.ceil((1.0 + text_length) * STRING_FACTOR) * math.ceil(pattern_length * REGEX_FACTOR)


def regex_traversal(args: tuple[Any, ...], result: Any) -> int:
    """Return the cost of matching the second argument, a pattern, in the first."""
    return regex_cost(size_of(args[0]), size_of(args[1]))


def deep_traversal(value: Any) -> int:
    """Return the cost of traversing a value and everything in it. Source: apiserver pkg/cel/library/cost.go."""
    if isinstance(value, str):
        return int(len(value.encode(errors="replace")) * STRING_FACTOR)
    if isinstance(value, bytes):
        return int(len(value) * STRING_FACTOR)
    if isinstance(value, list):
        return sum(map(deep_traversal, value))
    items = getattr(value, "items", None)
    if items is None:
        return 1
    return sum(deep_traversal(key) + deep_traversal(item) for key, item in items())


def first_deep_traversal(args: tuple[Any, ...], result: Any) -> int:
    """Return the cost of traversing the first argument and everything in it."""
    return deep_traversal(args[0])
