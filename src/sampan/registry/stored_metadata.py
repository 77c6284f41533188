"""Metadata of custom resources that an old kube-apiserver stored, which looked at none of it.

Source: apiextensions pkg/apiserver/customresource_handler.go (unstructuredSchemaCoercer),
pkg/apiserver/schema/objectmeta/coerce.go GetObjectMetaWithOptions (1.36).
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sampan.core.object import Object
from sampan.schema.decode import DecodeError

Decode = Callable[[Object], Any]
"""Reads metadata in place. Raises `DecodeError`."""


def repaired(metadata: Object, decode: Decode) -> Object:
    """The metadata with a generation, and without the fields that are not of their type or not known."""
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
    """A field alone; nothing if it cannot be read."""
    field = {name: value}
    try:
        decode(field)
    except DecodeError:
        return {}
    return field
