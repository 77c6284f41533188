"""The envelope of `application/vnd.kubernetes.protobuf`: four bytes and a `runtime.Unknown` with the type's name.

Source: apimachinery pkg/runtime/serializer/protobuf/protobuf.go (1.36).
"""

from typing import Any, Final

import orjson

from sampan.wire.json import DecodeError
from sampan.wire.protobuf.decode import LEVELS_MAX, decode_message
from sampan.wire.protobuf.table import table
from sampan.wire.protobuf.varint import BYTES, scan, tag_of

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
MAGIC: Final = b"k8s\x00"
_API_VERSION: Final = tag_of(1, BYTES)
_KIND: Final = tag_of(2, BYTES)
_TYPE: Final = tag_of(1, BYTES)
_RAW: Final = tag_of(2, BYTES)
_BRACKETS_MAX: Final = 100


def decode(body: bytes, api_version: str = "", kind: str = "") -> dict[str, Any]:
    """The object of an enveloped body; `api_version` and `kind` are taken where the body does not name its type.

    Kinds without a protobuf form and everything malformed raise `DecodeError`.
    """
    if not body:
        raise DecodeError("empty data")
    if not body.startswith(MAGIC):
        raise DecodeError(
            f"provided data does not appear to be a protobuf message, expected prefix [{' '.join(map(str, MAGIC))}]"
        )
    if len(body) == len(MAGIC):
        raise DecodeError("empty body")
    try:
        return _decode(body, api_version, kind)
    except UnicodeDecodeError:
        raise DecodeError("proto: invalid UTF-8") from None
    except IndexError:
        raise DecodeError("unexpected EOF") from None


def _decode(body: bytes, api_version: str, kind: str) -> dict[str, Any]:
    given_version = given_kind = ""
    start = stop = 0
    for tag, first, last in scan(body, len(MAGIC), len(body)):
        if tag == _TYPE:
            given_version, given_kind = _type_meta(body, first, last)
        elif tag == _RAW:
            start, stop = first, last
    api_version, kind = given_version or api_version, given_kind or kind
    message = table().message_of(api_version, kind)
    if message is None:
        raise DecodeError(f'no kind "{kind}" is registered for version "{api_version}"')
    obj: dict[str, Any] = {"kind": kind, "apiVersion": api_version}
    obj |= decode_message(message, body, start, stop, LEVELS_MAX)
    if body.count(b"{") + body.count(b"[") > _BRACKETS_MAX:
        _check_depth(obj)
    return obj


def _type_meta(body: bytes, start: int, stop: int) -> tuple[str, str]:
    api_version = kind = ""
    for tag, first, last in scan(body, start, stop):
        if tag == _API_VERSION:
            api_version = body[first:last].decode()
        elif tag == _KIND:
            kind = body[first:last].decode()
    return api_version, kind


def _check_depth(obj: dict[str, Any]) -> None:
    """Raw JSON inside messages inside raw JSON: the encoder's bound is everybody's."""
    try:
        orjson.dumps(obj)
    except orjson.JSONEncodeError:
        raise DecodeError("exceeded max depth") from None
