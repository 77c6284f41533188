"""Stored values: canonical JSON of an object, with its resourceVersion spliced in without decoding.

In a stored value `metadata.resourceVersion` is the empty string. Only `kind` and `apiVersion` precede `metadata`, and
inside it only scalars precede the key. So the first occurrence of the marker is the right one; inside a JSON string its
quotes would be escaped. A value with parts that are nested deeply ends with a space (`wire/json.py`): all others are
decoded without a search for such parts.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import orjson

from sampan.core.deep_json import LEVELS_MAX, DeepJson, dumps
from sampan.core.object import Object
from sampan.storage.records import Record
from sampan.storage.store import KeyValue
from sampan.wire.json import DEEP_END, DecodeError, escaped, without_deep_parts
from sampan.wire.json import decode as decode_json

MARKER = b'"resourceVersion":"'
_MARKER_SIZE = len(MARKER)
_HEAD = ("kind", "apiVersion", "metadata")
_METADATA_HEAD = ("name", "generateName", "namespace", "uid", "resourceVersion")
_SCALARS = frozenset(_METADATA_HEAD)

_decode: Callable[[bytes], Any] = msgspec.json.Decoder().decode


def decode(value: bytes) -> Any:
    """Decode a value. Large integers stay integers (orjson turns those beyond 64 bits into floats).

    Raises `UNREADABLE` (`sampan.wire.json`).
    """
    try:
        found = _decode(value)
        # A value that we encode ends with a brace if it has no such parts.
        if value.endswith(b"}") or value.count(b"{") + value.count(b"[") <= LEVELS_MAX:
            return found
    except RecursionError:
        pass
    try:
        return decode_json(value)
    except DecodeError as error:
        raise ValueError(str(error)) from None


def encode(obj: Object) -> bytes:
    """Return the stored value of an object: ordered, compact, escaped as in Go, with an empty
    `metadata.resourceVersion`.

    The object is not changed.
    """
    metadata = obj["metadata"]
    if metadata.get("resourceVersion") != "" or not _in_order(obj, metadata):
        obj = _ordered(obj, metadata)
    try:
        # orjson over-allocates its result (8 kB for a small object). A copy frees the rest, because values are kept.
        return escaped(bytes(memoryview(orjson.dumps(obj))))
    except TypeError:
        pass
    try:
        return escaped(dumps(obj)) + DEEP_END
    except TypeError:
        return escaped(msgspec.json.encode(obj, enc_hook=_as_raw))


def _as_raw(value: object) -> msgspec.Raw:
    if isinstance(value, DeepJson):
        return msgspec.Raw(value.text)
    raise TypeError(f"a {type(value).__name__} is not a JSON value")


def _in_order(obj: Object, metadata: dict[str, Any]) -> bool:
    for name in obj:
        if name == "metadata":
            break
        if name != "kind" and name != "apiVersion":
            return False
    for name in metadata:
        if name == "resourceVersion":
            return True
        if name not in _SCALARS:
            return False
    return False


def _ordered(obj: Object, metadata: dict[str, Any]) -> Object:
    rest = metadata.copy()
    ordered_metadata = {name: rest.pop(name) for name in _METADATA_HEAD if name in rest}
    ordered_metadata["resourceVersion"] = ""
    ordered_metadata.update(rest)
    ordered = {name: obj[name] for name in _HEAD if name in obj}
    ordered.update(obj)
    ordered["metadata"] = ordered_metadata
    return ordered


def splice(value: bytes, revision: int) -> bytes:
    """Return a stored value with its resourceVersion filled in. Raises `ValueError` if it has no placeholder."""
    at = value.index(MARKER) + _MARKER_SIZE
    return b"%b%d%b" % (value[:at], revision, value[at:])


def respliced(value: bytes, revision: int) -> bytes:
    """Return the value with its resourceVersion replaced. Raises `ValueError` if it has none."""
    at = value.index(MARKER) + _MARKER_SIZE
    end = value.index(b'"', at)
    return b"%b%d%b" % (value[:at], revision, value[end:])


def respliced_record(record: Record, revision: int) -> Record:
    """Return the record as a DELETED event shows it: the last state, at the revision of the deletion."""
    return Record(
        record.key,
        record.namespace,
        record.name,
        respliced(record.value, revision),
        revision,
        record.create_revision,
        record.labels,
        record.fields,
        record.uid,
    )


class _Metadata(msgspec.Struct, gc=False):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None


class _Head(msgspec.Struct, gc=False):
    metadata: _Metadata


_decode_head_only = msgspec.json.Decoder(_Head).decode


def _decode_head(value: bytes) -> _Head:
    try:
        return _decode_head_only(value)
    except RecursionError:
        return _decode_head_only(without_deep_parts(value))


Fields = Callable[[Object], dict[str, str]]
"""Function that returns the selectable fields of an object."""


def extractor(fields: Fields | None = None, part: Any = None) -> Callable[[KeyValue], Record]:
    """Return a function that makes a record from a stored row.

    It decodes only the parts of the object that selectors need.

    `fields` returns the selectable fields besides `metadata.name` and `metadata.namespace`. It requires decoding the
    whole object (13 us for a Pod), unless `part`, a `TypedDict`, declares the parts that `fields` reads (3 us).
    """
    decode_part = decode if part is None else _part_decoder(part)

    def extract(row: KeyValue) -> Record:
        key, value, create_revision, revision = row
        metadata = _decode_head(value).metadata
        name = metadata.name
        namespace = metadata.namespace
        selectable = {"metadata.name": name}
        if namespace:
            selectable["metadata.namespace"] = namespace
        if fields is not None:
            selectable.update(fields(decode_part(value)))
        return Record(
            key,
            namespace,
            name,
            splice(value, revision),
            revision,
            create_revision,
            metadata.labels or {},
            selectable,
            metadata.uid,
        )

    return extract


def _part_decoder(part: Any) -> Callable[[bytes], Object]:
    decode_typed = msgspec.json.Decoder(part).decode

    def decode_part(value: bytes) -> Object:
        try:
            found: Object = decode_typed(value)
        except RecursionError:
            found = decode_typed(without_deep_parts(value))
        except msgspec.ValidationError:
            found = decode(value)  # Another program stored this value, and it does not match the schema.
        return found

    return decode_part
