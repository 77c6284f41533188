"""Encode messages that have a special JSON form: times, quantities, raw JSON, wrapped lists.

Each function returns the bytes of a value, without its tag and length. None (JSON null) is Go's zero value.
Source: apimachinery pkg/apis/meta/v1/{time,micro_time}_proto.go, pkg/api/resource, pkg/util/intstr (1.36).
"""

import base64
import datetime as dt
import functools
import struct
from collections.abc import Callable
from typing import Any, Final

from sampan.core.time import parse_duration, parse_micro_time, parse_time
from sampan.wire import json as wire_json
from sampan.wire.protobuf.varint import length_prefixes, write_varint

Writer = Callable[[Any], bytes]

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_DAY_S: Final = 86400
_CACHED_LENGTH_MAX: Final = 40
_FIRST: Final = length_prefixes(1)
_THIRD: Final = length_prefixes(3)


def delimited(prefixes: tuple[bytes, ...], body: bytes) -> bytes:
    """Return a body with its tag and length; `prefixes` are those of the tag."""
    size = len(body)
    return prefixes[size] + body if size < 128 else prefixes[0][:-1] + write_varint(size) + body


def write_text(value: str | None) -> bytes:
    """Write a string."""
    return value.encode() if value is not None else b""


def write_bytes(value: str | None) -> bytes:
    """Write bytes, which are base64 in JSON."""
    return base64.b64decode(value) if value else b""


def write_time(value: str | None) -> bytes:
    """Write a `metav1.Time`. Raises `ValueError`."""
    if not value:
        return b""
    return _time(value) if len(value) <= _CACHED_LENGTH_MAX else _time_uncached(value)


def _time_uncached(text: str) -> bytes:
    return _timestamp(parse_time(text), 0)


_time = functools.lru_cache(maxsize=4096)(_time_uncached)


def write_micro_time(value: str | None) -> bytes:
    """Write a `metav1.MicroTime`. Raises `ValueError`."""
    if not value:
        return b""
    instant = parse_micro_time(value)
    return _timestamp(instant, instant.microsecond * 1000)


def _timestamp(instant: dt.datetime, nanos: int) -> bytes:
    since = instant - _EPOCH
    # Go's zero time, 0001-01-01, is an empty message.
    if instant.year == 1 and since.days == -719162 and not since.seconds and not nanos:
        return b""
    return b"\x08" + write_varint(since.days * _DAY_S + since.seconds) + b"\x10" + write_varint(nanos)


def write_duration(value: str | None) -> bytes:
    """Write a `metav1.Duration`. Raises `ValueError`."""
    return b"\x08" + write_varint(parse_duration(value) if value else 0)


def write_quantity(value: str | int | float | None) -> bytes:
    """Write a `resource.Quantity`, given in its canonical form."""
    text = value if isinstance(value, str) else "0" if value is None else str(value)
    return delimited(_FIRST, text.encode())


def write_int_or_string(value: int | str | None) -> bytes:
    """Write an `intstr.IntOrString`."""
    if isinstance(value, str):
        return b"\x08\x01\x10\x00" + delimited(_THIRD, value.encode())
    return b"\x08\x00\x10" + write_varint(value or 0) + b"\x1a\x00"


def write_raw_json(value: Any) -> bytes:
    """Write a message with a single field of raw JSON, escaped as by Go."""
    return b"" if value is None else delimited(_FIRST, wire_json.escaped(wire_json.encode(value)))


def write_texts(value: list[str] | None) -> bytes:
    """Write a message with a single list of strings."""
    return b"".join([delimited(_FIRST, write_text(item)) for item in value]) if value else b""


def write_double(value: float) -> bytes:
    """Write a float64."""
    return struct.pack("<d", value)


WRITERS: Final[dict[str, Writer]] = {
    "string": write_text,
    "bytes": write_bytes,
    "meta.v1.Time": write_time,
    "meta.v1.MicroTime": write_micro_time,
    "meta.v1.Duration": write_duration,
    "meta.v1.FieldsV1": write_raw_json,
    "meta.v1.Verbs": write_texts,
    "resource.Quantity": write_quantity,
    "intstr.IntOrString": write_int_or_string,
    "runtime.RawExtension": write_raw_json,
    "apiextensions.v1.JSON": write_raw_json,
    "apiextensions.v1beta1.JSON": write_raw_json,
    "authentication.v1.ExtraValue": write_texts,
    "authentication.v1beta1.ExtraValue": write_texts,
    "authorization.v1.ExtraValue": write_texts,
    "authorization.v1beta1.ExtraValue": write_texts,
    "certificates.v1.ExtraValue": write_texts,
    "certificates.v1beta1.ExtraValue": write_texts,
}
"""Writer of each type that has a special form."""
