"""Differences between Sampan and cel-go, with the settings of kube-apiserver, for one expression.

The results of cel-go are lines of the program in `tests/e2e/cel`. Costs of failed evaluations are not compared: an
error ends an evaluation, and what it has cost until then is not exact. Estimates depend on the limits of declared
types, so they are compared for expressions whose variables have no type.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sampan.schema.cel import (
    Budget,
    CelBudgetExceeded,
    CelCompileError,
    CelRuntimeError,
    CelSyntaxError,
    CelType,
    CelTypeError,
    Environment,
)
from sampan.schema.cel.cost.estimate import estimate
from sampan.schema.cel.types import BOOL, DOUBLE, DYN, INT, NULL, STRING, list_of, map_of
from sampan.schema.cel.values import (
    ABSENT,
    Duration,
    OptionalValue,
    Timestamp,
    TypeValue,
    UInt,
    type_name,
)

_TYPES: Final = {"bool": BOOL, "int": INT, "double": DOUBLE, "string": STRING, "dyn": DYN, "null_type": NULL}


@dataclass(frozen=True, slots=True)
class Difference:
    """One property of an expression that differs: `invalid`, `type`, `estimate`, `value`, `failure` or `cost`."""

    expression: str
    property: str
    real: str
    ours: str


def differences(line: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield the properties in which Sampan's result differs from the line's."""
    expression = line["expression"]
    environment = Environment({name: type_of(text) for name, text in line["variables"].items()})
    real = line["invalid"] or (line["failure"] if line["failure"].startswith("program: ") else "")
    try:
        program = environment.compile(expression)
        invalid = ""
    except (CelSyntaxError, CelTypeError) as error:
        invalid = str(error)
    except CelCompileError as error:
        invalid = f"program: {error}"
    if invalid or real:
        if invalid != real:
            yield Difference(expression, "invalid", real, invalid)
        return
    if str(program.result_type) != line["type"]:
        yield Difference(expression, "type", line["type"], str(program.result_type))
    if all(kind is DYN for kind in environment.variables.values()):
        costs = estimate(program.root, environment.variables)
        ours = f"{costs.low} to {costs.high}"
        if ours != (real := f"{line['minimum']} to {line['maximum']}"):
            yield Difference(expression, "estimate", real, ours)
    budget = Budget()
    before = budget.remaining
    value, failure = None, ""
    try:
        value = notation(program.evaluate(line["bindings"], budget))
    except (CelRuntimeError, CelBudgetExceeded) as error:
        failure = str(error)
    if bool(failure) != bool(line["failure"]) or (not failure and text(value) != text(normal(line["value"]))):
        yield Difference(expression, "value", line["failure"] or text(normal(line["value"])), failure or text(value))
        return
    if failure != line["failure"]:
        yield Difference(expression, "failure", line["failure"], failure)
    elif not failure and line["cost"] not in (-1, before - budget.remaining):
        yield Difference(expression, "cost", str(line["cost"]), str(before - budget.remaining))


def type_of(text: str) -> CelType:
    """Return the type with a name such as `map(string, list(int))`."""
    name, _, rest = text.partition("(")
    if name == "list":
        return list_of(type_of(rest.removesuffix(")")))
    if name == "map":
        key, _, value = rest.removesuffix(")").partition(", ")
        return map_of(type_of(key), type_of(value))
    return _TYPES[text]


def notation(value: Any) -> Any:
    """Return a value in the notation of the program: a list of its type and its content."""
    name = type_name(value)
    match value:
        case None:
            return ["null"]
        case bool() | str():
            return [name, value]
        case UInt() | int():
            return [name, str(int(value))]
        case float():
            return [name, repr(value)]
        case bytes():
            return [name, base64.b64encode(value).decode()]
        case Timestamp():
            return [name, f"{value.ns // 10**9} {value.ns % 10**9}"]
        case Duration():
            return [name, str(value.ns)]
        case OptionalValue():
            return ["optional"] if value.value is ABSENT else ["optional", notation(value.value)]
        case TypeValue():
            return ["type", value.name]
        case list():
            return ["list", [notation(each) for each in value]]
        case dict():
            return ["map", sorted(([notation(key), notation(each)] for key, each in value.items()), key=text)]
    return [name]


def normal(value: Any) -> Any:
    """Return a notation of Go in Python's form of doubles and order of entries."""
    match value:
        case ["double", str(digits)]:
            return ["double", repr(float(digits))]
        case ["list", list(items)]:
            return ["list", [normal(each) for each in items]]
        case ["map", list(entries)]:
            return ["map", sorted(([normal(key), normal(each)] for key, each in entries), key=text)]
        case ["optional", inner]:
            return ["optional", normal(inner)]
    return value


def text(value: Any) -> str:
    """Return the JSON of a notation."""
    return json.dumps(value, sort_keys=True)
