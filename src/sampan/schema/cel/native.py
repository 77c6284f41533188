"""Convert values of expressions to JSON."""

import base64
from typing import Any

from sampan.core.deep_json import DeepJson
from sampan.schema.cel.errors import CelRuntimeError
from sampan.schema.cel.times import format_duration, format_timestamp
from sampan.schema.cel.values import ABSENT, Duration, ObjectValue, OptionalValue, Timestamp, UInt, type_name


def to_json(value: Any) -> Any:
    """Return the JSON form of a value. **Raises** CelRuntimeError for values that have no JSON form."""
    if value is None or isinstance(value, bool | str | float | DeepJson):
        return value
    if isinstance(value, int):
        return int(value) if type(value) is UInt else value
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {_key(key): to_json(item) for key, item in value.items()}
    if isinstance(value, ObjectValue):
        return value.raw
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Timestamp):
        return format_timestamp(value)
    if isinstance(value, Duration):
        return format_duration(value)
    if isinstance(value, OptionalValue):
        return None if value.value is ABSENT else to_json(value.value)
    raise CelRuntimeError(f"a value of type {type_name(value)} has no JSON form")


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise CelRuntimeError(f'map key "{key}" is of type {type_name(key)}, not string')
