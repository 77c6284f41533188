"""Embedded resources: objects inside an object, with their own apiVersion, kind and metadata.

Source: apiextensions-apiserver pkg/apiserver/schema/objectmeta/validation.go (1.36).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, invalid, required
from sampan.core.gvk import GroupVersion
from sampan.core.object import Object
from sampan.core.validation.metadata import validate_object_meta
from sampan.core.validation.names import dns1035_label_errors, path_segment_errors
from sampan.schema.structural import Schema


def embedded_errors(obj: Object, path: Path) -> list[FieldError]:
    """Return the errors in one embedded resource's apiVersion, kind and metadata."""
    return [*_type_errors(obj, path), *_metadata_errors(obj.get("metadata"), path.child("metadata"))]


def all_embedded_errors(schema: Schema, value: Any, path: Path) -> Iterator[FieldError]:
    """Yield the errors of all embedded resources below a node. Built-in types have none."""
    if schema.name:
        return
    if type(value) is dict:
        if schema.embedded_resource:
            yield from embedded_errors(value, path)
        for key, item in value.items():
            child = schema.properties.get(key)
            if child is not None:
                yield from all_embedded_errors(child, item, path.child(key))
            elif isinstance(schema.additional_properties, Schema):
                yield from all_embedded_errors(schema.additional_properties, item, path.key(key))
    elif type(value) is list and schema.items is not None:
        for index, item in enumerate(value):
            yield from all_embedded_errors(schema.items, item, path.index(index))


def _type_errors(obj: Object, path: Path) -> Iterator[FieldError]:
    for key in ("apiVersion", "kind"):
        if key not in obj:
            yield required(path.child(key))
    if "apiVersion" in obj:
        yield from _api_version_errors(obj["apiVersion"], path.child("apiVersion"))
    if "kind" in obj:
        yield from _kind_errors(obj["kind"], path.child("kind"))


def _api_version_errors(value: Any, path: Path) -> Iterator[FieldError]:
    if type(value) is not str:
        yield invalid(path, value, "must be a string")
    elif not value:
        yield invalid(path, value, "must not be empty")
    else:
        try:
            GroupVersion.parse(value)
        except ValueError as error:
            yield invalid(path, value, str(error))


def _kind_errors(value: Any, path: Path) -> Iterator[FieldError]:
    if type(value) is not str:
        yield invalid(path, value, "must be a string")
    elif not value:
        yield invalid(path, value, "must not be empty")
    elif faults := dns1035_label_errors(value.lower()):
        yield invalid(path, value, f"may have mixed case, but should otherwise match: {','.join(faults)}")


def _metadata_errors(metadata: Any, path: Path) -> list[FieldError]:
    if type(metadata) is not dict:
        return []
    if not metadata.get("name"):
        metadata = {**metadata, "name": "fakename"}
    return validate_object_meta(
        metadata, namespaced=bool(metadata.get("namespace")), name_rule=path_segment_errors, path=path
    )
