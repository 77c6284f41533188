"""Envelope of `application/vnd.kubernetes.protobuf`: four magic bytes and a `runtime.Unknown` with the type's name.

Source: apimachinery pkg/runtime/serializer/protobuf/protobuf.go (1.36).
"""

import binascii
import functools
from collections.abc import Iterable
from typing import Any, Final

import orjson

from sampan.wire.json import DecodeError, EncodeError
from sampan.wire.protobuf.decode import decode_message
from sampan.wire.protobuf.decode_budget import MESSAGES_MAX, DecodeBudget
from sampan.wire.protobuf.encode import encode_message
from sampan.wire.protobuf.encode_values import delimited
from sampan.wire.protobuf.table import table
from sampan.wire.protobuf.varint import BYTES, length_prefixes, scan, tag_of, write_varint

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
MAGIC: Final = b"k8s\x00"
_API_VERSION: Final = tag_of(1, BYTES)
_KIND: Final = tag_of(2, BYTES)
_TYPE: Final = tag_of(1, BYTES)
_RAW: Final = tag_of(2, BYTES)
_BRACKETS_MAX: Final = 100
_FIRST: Final = length_prefixes(1)
_SECOND: Final = length_prefixes(2)
LIST_END: Final = length_prefixes(3)[0] + length_prefixes(4)[0]
"""End of the envelope, after its message: encoding and content type, both empty."""


def decode(body: bytes, api_version: str = "", kind: str = "", *, messages_max: int = MESSAGES_MAX) -> dict[str, Any]:
    """Decode an enveloped body; `api_version` and `kind` are the defaults if the body does not name its type.

    `messages_max` limits the messages in it. Malformed bodies and kinds without a protobuf form raise `DecodeError`.
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
        return _decode(body, api_version, kind, DecodeBudget(messages_max))
    except UnicodeDecodeError:
        raise DecodeError("proto: invalid UTF-8") from None
    except IndexError:
        raise DecodeError("unexpected EOF") from None


def _decode(body: bytes, api_version: str, kind: str, budget: DecodeBudget) -> dict[str, Any]:
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
    obj |= decode_message(message, body, start, stop, budget)
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
    """Check the depth of the whole object: raw JSON can contain objects that contain raw JSON again."""
    try:
        orjson.dumps(obj)
    except orjson.JSONEncodeError:
        raise DecodeError("exceeded max depth") from None


def supports(api_version: str, kind: str) -> bool:
    """Report whether a kind has a protobuf form."""
    return table().message_of(api_version, kind) is not None


def encode(obj: dict[str, Any]) -> bytes:
    """Encode an object in its envelope. Raises `EncodeError`, also if the kind has no protobuf form.

    The oldest discovery documents have no apiVersion, and neither does their envelope.
    """
    api_version, kind = obj.get("apiVersion", ""), obj["kind"]
    return envelope(api_version, kind, encode_bare(api_version, kind, obj))


def encode_bare(api_version: str, kind: str, obj: dict[str, Any]) -> bytes:
    """Encode an object without an envelope. Raises `EncodeError`."""
    message = table().message_of(api_version, kind)
    if message is None:
        raise EncodeError(f"{api_version}, Kind={kind} does not implement the protobuf marshalling interface")
    try:
        return encode_message(message, obj)
    except (TypeError, ValueError, AttributeError, KeyError, RecursionError, binascii.Error) as error:
        raise EncodeError(f"{api_version}, Kind={kind}: {error}") from None


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    """Return a message in its envelope."""
    return _head(api_version, kind) + delimited(_SECOND, raw) + LIST_END


@functools.lru_cache(maxsize=1024)
def _head(api_version: str, kind: str) -> bytes:
    type_meta = delimited(_FIRST, api_version.encode()) + delimited(_SECOND, kind.encode())
    return MAGIC + delimited(_FIRST, type_meta)


def list_items(api_version: str, list_kind: str, messages: Iterable[bytes]) -> bytes:
    """Return the items of a list, given as messages without envelopes. They go between `list_head` and `LIST_END`."""
    _, prefixes = _list_prefixes(api_version, list_kind)
    return b"".join([delimited(prefixes, message) for message in messages])


def list_head(api_version: str, list_kind: str, metadata: dict[str, Any], items_size_bytes: int) -> bytes:
    """Return the part of an enveloped list before its items."""
    prefixes, _ = _list_prefixes(api_version, list_kind)
    list_meta = delimited(prefixes, encode_message("meta.v1.ListMeta", metadata))
    size = write_varint(len(list_meta) + items_size_bytes)
    return _head(api_version, list_kind) + _SECOND[0][:-1] + size + list_meta


@functools.lru_cache(maxsize=1024)
def _list_prefixes(api_version: str, list_kind: str) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Return the prefixes of the metadata and of each item. In meta.k8s.io/v1beta1 their field numbers are swapped."""
    message = table().message_of(api_version, list_kind)
    assert message is not None, f"{api_version} {list_kind} has no protobuf form"
    numbers = {field.name: field.number for field in table().fields(message)}
    return length_prefixes(numbers["metadata"]), length_prefixes(numbers["items"])


def encode_watch_event(event_type: str, enveloped: bytes) -> bytes:
    """Return one frame of a watch: four bytes of length and a WatchEvent with an enveloped object."""
    body = delimited(_FIRST, event_type.encode()) + delimited(_SECOND, delimited(_FIRST, enveloped))
    return len(body).to_bytes(4, "big") + body
