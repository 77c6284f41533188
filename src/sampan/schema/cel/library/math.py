"""Math extension; not part of Kubernetes' environment. Source: cel-go ext/math.go (0.26)."""

import math
from collections.abc import Callable
from typing import Any

from sampan.schema.cel.declarations import Library, function
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.operators import int_of
from sampan.schema.cel.types import BOOL, DOUBLE, DYN, INT, UINT, CelType, list_of
from sampan.schema.cel.values import UInt, compare

_NUMBERS = (INT, UINT, DOUBLE)
_ARGUMENTS_MAX = 8


def _extreme(name: str, sign: int) -> Callable[..., Any]:
    def find(*args: Any) -> Any:
        values = args[0] if len(args) == 1 and isinstance(args[0], list) else args
        if not values:
            raise CelRuntimeError(f"math.@{name}(list) argument must not be empty")
        found = values[0]
        for value in values:
            if compare(value, found) == sign:
                found = value
        return found

    return find


def _extremes(name: str, impl: Callable[..., Any]) -> Any:
    full = f"math.{name}"
    for kind in _NUMBERS:
        yield function(full, f"math_{name}_{kind}", (kind,), kind, impl)
        yield function(full, f"math_{name}_{kind}_{kind}", (kind, kind), kind, impl)
        yield function(full, f"math_{name}_list_{kind}", (list_of(kind),), kind, impl)
    for count in range(2, _ARGUMENTS_MAX + 1):
        yield function(full, f"math_{name}_{count}", (DYN,) * count, DYN, impl)


def _absolute(value: Any) -> Any:
    if type(value) is int:
        return int_of(abs(value))
    return value if type(value) is UInt else abs(value)


def _sign(value: Any) -> Any:
    if type(value) is float:
        return value if value == 0 or value != value else math.copysign(1.0, value)
    return type(value)((value > 0) - (value < 0))


def _rounded(operation: Callable[[float], Any]) -> Callable[[float], float]:
    return lambda value: float(operation(value)) if math.isfinite(value) else value


def _half_away(value: float) -> float:
    return math.copysign(math.floor(abs(value) + 0.5), value)


def _root(value: Any) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _each(name: str, kinds: tuple[CelType, ...], impl: Callable[[Any], Any], result: CelType | None = None) -> Any:
    for kind in kinds:
        yield function(f"math.{name}", f"math_{name}_{kind}", (kind,), result or kind, impl)


MATH = Library(
    (
        *_extremes("greatest", _extreme("max", 1)),
        *_extremes("least", _extreme("min", -1)),
        *_each("abs", _NUMBERS, _absolute),
        *_each("sign", _NUMBERS, _sign),
        *_each("ceil", (DOUBLE,), _rounded(math.ceil)),
        *_each("floor", (DOUBLE,), _rounded(math.floor)),
        *_each("round", (DOUBLE,), _rounded(_half_away)),
        *_each("trunc", (DOUBLE,), _rounded(math.trunc)),
        *_each("sqrt", _NUMBERS, _root, DOUBLE),
        *_each("isNaN", (DOUBLE,), math.isnan, BOOL),
        *_each("isInf", (DOUBLE,), math.isinf, BOOL),
        *_each("isFinite", (DOUBLE,), math.isfinite, BOOL),
    )
)
