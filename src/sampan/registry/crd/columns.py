"""Printer columns of custom resources.

Source: apiextensions pkg/registry/customresource/tableconvertor (1.36).
"""

from collections.abc import Callable
from typing import Any

from sampan.core.clock import utc_now
from sampan.core.go_text import plain
from sampan.core.json.path import JsonPath
from sampan.core.numbers.integers import INT64_MAX, INT64_MIN
from sampan.core.object import Object
from sampan.core.time import human_duration, parse_time
from sampan.registry.definition import Column
from sampan.wire import json as wire_json

_AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
_NAME = "Name must be unique within a namespace."


def columns_of(version: dict[str, Any]) -> Callable[[], tuple[Column, ...]]:
    """Return a function that builds the columns: Name, then the declared ones. Without declared columns: Name and Age.

    An invalid path drops its column and all columns after it.
    """
    declared = version.get("additionalPrinterColumns") or [_AGE]
    made: list[tuple[Column, ...]] = []

    def columns() -> tuple[Column, ...]:
        if not made:
            name = Column("Name", "string", lambda obj: obj["metadata"].get("name", ""), "name", _NAME)
            made.append((name, *_readable(declared)))
        return made[0]

    return columns


def _readable(declared: list[dict[str, Any]]) -> list[Column]:
    columns: list[Column] = []
    for column in declared:
        try:
            columns.append(_column(column))
        except ValueError:
            break
    return columns


def _column(declared: dict[str, Any]) -> Column:
    kind = declared["type"]
    path = JsonPath(declared["jsonPath"])

    def cell(obj: Object) -> Any:
        return _cell(kind, path.find(obj))

    return Column(
        name=declared["name"],
        type=kind,
        cell=cell,
        format=declared.get("format", ""),
        description=declared.get("description", "")
        or f"Custom resource definition column (in JSONPath format): {declared['jsonPath']}",
        priority=declared.get("priority", 0),
    )


def _cell(kind: str, values: list[Any]) -> Any:
    """Return the cell of the first value; None if its type differs from the column's."""
    if not values:
        return None
    value = values[0]
    if kind == "string":
        return _text(value)
    if kind == "date":
        return _age(value) if isinstance(value, str) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if kind == "integer" else value


def _text(value: Any) -> str:
    """Return the text that kubectl's JSONPath prints: JSON for objects and lists."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return plain(value if INT64_MIN <= value <= INT64_MAX and isinstance(value, int) else float(value))
    return wire_json.encode_sorted(value).decode()


def _age(value: str) -> str:
    if not value:
        return "<unknown>"
    try:
        then = parse_time(value)
    except ValueError:
        return "<invalid>"
    return human_duration((utc_now() - then).total_seconds())
