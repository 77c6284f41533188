"""Repair the metadata of custom resources that an old kube-apiserver stored without checks.

Source: apiextensions pkg/apiserver/customresource_handler.go (unstructuredSchemaCoercer),
pkg/apiserver/schema/objectmeta/coerce.go GetObjectMetaWithOptions (1.36).
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sampan.core.object import Object
from sampan.schema.decoding.decode_error import DecodeError

Decode = Callable[[Object], Any]
"""Decode metadata in place. Raises `DecodeError`."""


def repaired(metadata: Object, decode: Decode) -> Object:
    """Return the metadata with a generation, without unknown fields and fields of a wrong type."""
    given = deepcopy(metadata)
    try:
        decode(metadata)
    except DecodeError:
        metadata = {}
        for name, value in given.items():
            metadata |= _field(name, value, decode)
    metadata["generation"] = metadata.get("generation") or 1
    return metadata


def _field(name: str, value: Any, decode: Decode) -> Object:
    """Return one field; nothing if it cannot be decoded."""
    field = {name: value}
    try:
        decode(field)
    except DecodeError:
        return {}
    return field
