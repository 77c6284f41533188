"""`Overload`: a function's signature, implementation and costs; and the tables that libraries are made of."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from sampan.schema.cel.types import CelType
from sampan.schema.cel.values import size_of

Cost: TypeAlias = int | Callable[[tuple[Any, ...], Any], int]
"""What a call costs: a constant, or computed from the arguments (receiver first) and the result."""

LATE_COSTS: set[Callable[[tuple[Any, ...], Any], int]] = set()
"""Costs that depend on the result. All others are charged before the call, so that no call begins what is too dear."""

STRING_FACTOR = 0.1
REGEX_FACTOR = 0.25
LIST_CREATE_COST = 10
MAP_CREATE_COST = 30
STRUCT_CREATE_COST = 40


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function. `params` begin with the receiver if `member`."""

    function: str
    id: str
    params: tuple[CelType, ...]
    result: CelType
    impl: Callable[..., Any]
    member: bool = False
    cost: Cost = 1


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """Functions and types that extend an environment. Libraries are module constants, compared by identity."""

    overloads: tuple[Overload, ...] = ()
    types: tuple[CelType, ...] = ()


def late(cost: Callable[[tuple[Any, ...], Any], int]) -> Callable[[tuple[Any, ...], Any], int]:
    """Marks a cost that depends on the result."""
    LATE_COSTS.add(cost)
    return cost


def member(name: str, key: str, params: tuple[CelType, ...], result: CelType, impl: Callable[..., Any]) -> Overload:
    """A method: `params[0]` is the receiver. It costs 1; see `with_cost`."""
    return Overload(name, key, params, result, impl, member=True)


def function(name: str, key: str, params: tuple[CelType, ...], result: CelType, impl: Callable[..., Any]) -> Overload:
    """A global function. It costs 1; see `with_cost`."""
    return Overload(name, key, params, result, impl)


def with_cost(cost: Cost, overloads: Iterable[Overload]) -> tuple[Overload, ...]:
    """The overloads with another cost."""
    return tuple(Overload(o.function, o.id, o.params, o.result, o.impl, o.member, cost) for o in overloads)


def by_name(overloads: Iterable[Overload]) -> dict[str, list[Overload]]:
    """A table of the functions, the overloads of each in the order of their declaration."""
    table: dict[str, list[Overload]] = {}
    for overload in overloads:
        table.setdefault(overload.function, []).append(overload)
    return table


def traversal(length: int, times: int = 1) -> int:
    """The cost of passing over a string."""
    return math.ceil(length * times * STRING_FACTOR)


def first_traversal(args: tuple[Any, ...], result: Any) -> int:
    """The cost of passing once over the first argument."""
    return math.ceil(size_of(args[0]) * STRING_FACTOR)


def first_traversal_twice(args: tuple[Any, ...], result: Any) -> int:
    """The cost of passing over the first argument and of writing a result of its size."""
    return math.ceil(size_of(args[0]) * 2 * STRING_FACTOR)


def smaller_traversal(args: tuple[Any, ...], result: Any) -> int:
    """The cost of comparing two values."""
    return math.ceil(min(size_of(args[0]), size_of(args[1])) * STRING_FACTOR)


def both_traversals(args: tuple[Any, ...], result: Any) -> int:
    """The cost of joining two strings."""
    return math.ceil((size_of(args[0]) + size_of(args[1])) * STRING_FACTOR)


def regex_cost(text_length: int, pattern_length: int) -> int:
    """The cost of matching a pattern."""
    return math.ceil((1.0 + text_length) * STRING_FACTOR) * math.ceil(pattern_length * REGEX_FACTOR)


def regex_traversal(args: tuple[Any, ...], result: Any) -> int:
    """The cost of matching the second argument, a pattern, in the first."""
    return regex_cost(size_of(args[0]), size_of(args[1]))


def deep_traversal(value: Any) -> int:
    """The cost of passing over a value and all that is in it. Source: apiserver pkg/cel/library/cost.go."""
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
    """The cost of passing over the first argument and all that is in it."""
    return deep_traversal(args[0])
