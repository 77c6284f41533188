"""Cases made from the schemas of the built-in types: each list and each map of each kind, filled to the limit."""

from collections.abc import Iterator
from typing import Any

import orjson

from benchmarks.loop_fuzz.cases import NAMESPACE, Case, post, repeated
from sampan.core.gvk import GroupVersionKind
from sampan.registry.catalogue import builtin_definitions
from sampan.registry.definition import ResourceDefinition
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.schema.builtin import Definitions
from sampan.schema.structural import Schema

DEPTH_MAX = 6
_SKIPPED = frozenset({"managedFields", "status"})
_TYPES: dict[str, Any] = {"object": {}, "array": [], "string": "/", "integer": -1, "number": -1.5, "boolean": True}


def shape_cases(depth: int = DEPTH_MAX) -> Iterator[Case]:
    """Yield one case for each list or map that is not deeper than `depth`: full of empty items, or of invalid keys."""
    schemas = Definitions()
    for definition in builtin_definitions(schemas, BUILTIN_KINDS):
        for name, version in definition.versions.items():
            if not version.served or "create" not in definition.verbs:
                continue
            root = version.schema()
            base = f"/apis/{definition.group}/{name}" if definition.group else f"/api/{name}"
            space = f"/namespaces/{NAMESPACE}" if definition.namespaced else ""
            gvk = GroupVersionKind(definition.group, name, definition.kind)
            for place, schema in _collections(root, (), depth, ()):
                yield _case(definition, gvk, f"{base}{space}/{definition.resource}", place, schema)


def _case(
    definition: ResourceDefinition, gvk: GroupVersionKind, path: str, place: tuple[str, ...], schema: Schema
) -> Case:
    def make() -> bytes:
        value: Any
        if schema.type == "array":
            value = repeated(_filler(schema.items))
        else:
            item = _filler(schema.additional_properties if isinstance(schema.additional_properties, Schema) else None)
            value = {f"/{index}": item for index in range(2_900_000 // (len(orjson.dumps(item)) + 11))}
        for key in reversed(place):
            value = [value] if key == "[]" else {key: value}
        metadata = {"name": "shape"} | (value.get("metadata") or {})
        return orjson.dumps({**value, "metadata": metadata, "apiVersion": gvk.api_version, "kind": gvk.kind})

    return post(f"{definition.kind} {gvk.version} {'.'.join(place)}", path, make)


def _filler(schema: Schema | None) -> Any:
    if schema is None:
        return "/"
    if schema.scalar in ("quantity", "int-or-string", "time", "micro-time"):
        return "1"
    return _TYPES.get(schema.type, {})


def _collections(
    schema: Schema, place: tuple[str, ...], depth: int, above: tuple[int, ...]
) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Yield the places of lists and maps below a node. Types that contain themselves are followed once."""
    if id(schema) in above or len(place) > depth:
        return
    above = (*above, id(schema))
    if schema.type == "array":
        yield place, schema
        if schema.items is not None:
            yield from _collections(schema.items, (*place, "[]"), depth, above)
        return
    if isinstance(schema.additional_properties, Schema):
        yield place, schema
    for name, child in schema.properties.items():
        if name not in _SKIPPED and (name != "metadata" or not place):
            yield from _collections(child, (*place, name), depth, above)
