"""Decode messages that have a special JSON form: times, quantities, raw JSON, wrapped lists.

Each function decodes `body[start:stop]` and returns the JSON value.
Source: apimachinery pkg/apis/meta/v1/{time,micro_time}_proto.go, pkg/api/resource, pkg/util/intstr (1.36);
apiextensions-apiserver pkg/apis/apiextensions/v1/marshal.go.
"""

import base64
import datetime as dt
import functools
import math
import struct
from collections.abc import Callable
from typing import Any, Final

from sampan.core.go_text import unsupported_number
from sampan.core.json.values import whole_number
from sampan.core.time import format_duration, format_micro_time, format_time
from sampan.wire import json as wire_json
from sampan.wire.json import DecodeError
from sampan.wire.protobuf.decode_budget import DecodeBudget
from sampan.wire.protobuf.varint import BYTES, VARINT, scan, signed32, signed64, tag_of

Reader = Callable[[bytes, int, int, DecodeBudget], Any]
"""Function that decodes a JSON value from body, start and stop."""

_FIRST_INT: Final = tag_of(1, VARINT)
_SECOND_INT: Final = tag_of(2, VARINT)
_FIRST: Final = tag_of(1, BYTES)
_THIRD: Final = tag_of(3, BYTES)
_CACHED_SIZE_MAX: Final = 32
_ZERO_SECONDS: Final = -62135596800
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def read_text(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> str:
    """Read a string."""
    return body[start:stop].decode()


def read_bytes(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> str:
    """Read bytes; JSON writes them in base64."""
    return base64.b64encode(body[start:stop]).decode()


def read_time(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> str | None:
    """Read a `metav1.Time`; None is Go's zero time."""
    return _time(body[start:stop]) if stop - start <= _CACHED_SIZE_MAX else _time_uncached(body[start:stop])


def _time_uncached(raw: bytes) -> str | None:
    if not raw:
        return None
    seconds, _ = _timestamp(raw)
    return None if seconds == _ZERO_SECONDS else format_time(_instant(seconds, 0))


_time = functools.lru_cache(maxsize=4096)(_time_uncached)


def read_micro_time(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> str | None:
    """Read a `metav1.MicroTime`; None is Go's zero time."""
    if start == stop:
        return None
    seconds, nanos = _timestamp(body[start:stop])
    micros = math.trunc(nanos / 1000)
    return None if (seconds, micros) == (_ZERO_SECONDS, 0) else format_micro_time(_instant(seconds, micros))


def _timestamp(raw: bytes) -> tuple[int, int]:
    seconds = nanos = 0
    for tag, value, _ in scan(raw, 0, len(raw)):
        if tag == _FIRST_INT:
            seconds = signed64(value)
        elif tag == _SECOND_INT:
            nanos = signed32(value)
    return seconds, nanos


def _instant(seconds: int, micros: int) -> dt.datetime:
    try:
        return _EPOCH + dt.timedelta(seconds=seconds, microseconds=micros)
    except OverflowError:
        raise DecodeError("the time is outside the years 0 to 9999") from None


def read_duration(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> str:
    """Read a `metav1.Duration`."""
    duration_ns = 0
    for tag, value, _ in scan(body, start, stop):
        if tag == _FIRST_INT:
            duration_ns = signed64(value)
    return format_duration(duration_ns)


def read_quantity(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> str:
    """Read a `resource.Quantity`."""
    if stop - start > 2 and body[start] == _FIRST and body[start + 1] == stop - start - 2:
        return body[start + 2 : stop].decode()
    text = "0"
    for tag, first, last in scan(body, start, stop):
        if tag == _FIRST:
            text = body[first:last].decode()
    return text


def read_int_or_string(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> int | str:
    """Read an `intstr.IntOrString`."""
    return (
        _int_or_string(body[start:stop])
        if stop - start <= _CACHED_SIZE_MAX
        else _int_or_string_uncached(body[start:stop])
    )


def _int_or_string_uncached(raw: bytes) -> int | str:
    is_text, number, text = 0, 0, ""
    for tag, first, last in scan(raw, 0, len(raw)):
        if tag == _FIRST_INT:
            is_text = first
        elif tag == _SECOND_INT:
            number = signed32(first)
        elif tag == _THIRD:
            text = raw[first:last].decode()
    if is_text not in (0, 1):
        raise DecodeError(f"the type of IntOrString must be 0 (number) or 1 (text), but is {is_text}")
    return text if is_text else number


_int_or_string = functools.lru_cache(maxsize=1024)(_int_or_string_uncached)


def read_raw_json(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> Any:
    """Read a message with a single field of raw JSON; None without it."""
    value: Any = None
    for tag, first, last in scan(body, start, stop):
        if tag == _FIRST:
            value = wire_json.decode(body[first:last]) if last > first else None
    return value


def read_texts(body: bytes, start: int, stop: int, _budget: DecodeBudget) -> list[str]:
    """Read a message with a single list of strings, which is a plain list in JSON."""
    return [body[first:last].decode() for tag, first, last in scan(body, start, stop) if tag == _FIRST]


def read_double(raw: bytes) -> int | float:
    """Read a float64; whole values become integers, as Go writes them. Raises `DecodeError` for NaN and infinities."""
    value: float = struct.unpack("<d", raw)[0]
    if not math.isfinite(value):
        raise DecodeError(unsupported_number(value))
    return whole_number(value)


VALUES: Final[dict[str, tuple[Reader, Any]]] = {
    "string": (read_text, ""),
    "bytes": (read_bytes, None),
    "meta.v1.Time": (read_time, None),
    "meta.v1.MicroTime": (read_micro_time, None),
    "meta.v1.Duration": (read_duration, "0s"),
    "meta.v1.FieldsV1": (read_raw_json, None),
    "meta.v1.Verbs": (read_texts, None),
    "resource.Quantity": (read_quantity, "0"),
    "intstr.IntOrString": (read_int_or_string, 0),
    "runtime.RawExtension": (read_raw_json, None),
    "apiextensions.v1.JSON": (read_raw_json, None),
    "apiextensions.v1beta1.JSON": (read_raw_json, None),
    "authentication.v1.ExtraValue": (read_texts, None),
    "authentication.v1beta1.ExtraValue": (read_texts, None),
    "authorization.v1.ExtraValue": (read_texts, None),
    "authorization.v1beta1.ExtraValue": (read_texts, None),
    "certificates.v1.ExtraValue": (read_texts, None),
    "certificates.v1beta1.ExtraValue": (read_texts, None),
}
"""Reader of each type that has a special form, and its zero value in JSON."""
