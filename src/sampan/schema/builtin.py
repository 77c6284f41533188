"""Schemas of the built-in types, loaded on demand from the packed file that the build creates.

A `Definitions` contains the packed bytes and decodes only the nodes that are used.
"""

import errno
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from sampan.core.gvk import GroupVersionKind
from sampan.schema.decoding.decode import DecoderCompiler
from sampan.schema.structural import ListType, MapType, Schema, ValueValidations

DATA = Path(__file__).parent.parent / "registry" / "data" / "schemas.bin"
"""Path of the packed definitions."""

_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1"
_SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": ("string", "quantity"),
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": ("", "int-or-string"),
    f"{_META}.Time": ("string", "time"),
    f"{_META}.MicroTime": ("string", "micro-time"),
    f"{_META}.Duration": ("string", "duration"),
    f"{_META}.FieldsV1": ("object", "fields-v1"),
    f"{_META}.Patch": ("object", "raw"),
    "io.k8s.apimachinery.pkg.runtime.RawExtension": ("object", "raw"),
    f"{_EXTENSIONS}.JSON": ("", "raw"),
    f"{_EXTENSIONS}.JSONSchemaPropsOrArray": ("", "json-schema-or"),
    f"{_EXTENSIONS}.JSONSchemaPropsOrBool": ("", "json-schema-or"),
    f"{_EXTENSIONS}.JSONSchemaPropsOrStringArray": ("", "json-schema-or"),
}
_PATCH_KEYS = ("x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-map-type")

Json = dict[str, Any]


class Definitions:
    """All built-in definitions by name (`io.k8s.api.core.v1.Pod`).

    Nodes are shared and may be recursive, and so are their decoders. Raises `KeyError` for an unknown name.
    """

    def __init__(self, path: Path = DATA) -> None:
        self._path = path
        if not path.exists():
            reason = "the build creates it when the package is installed (`make`, or `pip install -e .`)"
            raise FileNotFoundError(errno.ENOENT, reason, str(path))
        index, self._packed = _read(path, 2)
        found = orjson.loads(index)
        self._definitions: dict[str, list[int]] = found["definitions"]
        self._descriptions: dict[str, list[int]] = found["descriptions"]
        self._kinds: dict[str, str] = found["kinds"]
        self._schemas: dict[str, Schema] = {}
        self._texts: bytes | None = None
        self.decoders = DecoderCompiler()
        """Decoders of objects of these types; each is compiled once."""

    def names(self) -> list[str]:
        """Return the names of all definitions, sorted."""
        return sorted(self._definitions)

    def name_for_kind(self, gvk: GroupVersionKind) -> str | None:
        """Return the name of a kind's definition; None if it is not built in."""
        return self._kinds.get(f"{gvk.group}/{gvk.version}/{gvk.kind}")

    def schema(self, name: str) -> Schema:
        """Return the node of a definition, including all nodes that it refers to."""
        known = self._schemas.get(name)
        return known if known is not None else self._build(name)

    def schema_for_kind(self, gvk: GroupVersionKind) -> Schema | None:
        """Return the root schema of a kind; None if it is not built in."""
        name = self.name_for_kind(gvk)
        return None if name is None else self.schema(name)

    def description(self, name: str, field: str = "") -> str:
        """Return the description of a type or of one of its fields."""
        text: str = self.descriptions(name).get(field, "")
        return text

    def descriptions(self, name: str) -> dict[str, str]:
        """Return all descriptions of a definition: the description of the type under "", and the descriptions of its
        fields under their names.
        """
        if self._texts is None:
            self._texts = _read(self._path, 3)[2]
        start, size = self._descriptions[name]
        found: dict[str, str] = orjson.loads(self._texts[start : start + size])
        return found

    def forget_descriptions(self) -> None:
        """Free the memory of the descriptions (1 MB); they are loaded again when needed."""
        self._texts = None

    def raw(self, name: str, *, version: int = 3) -> Json:
        """Return a definition as published by kube-apiserver in OpenAPI `version` (2 or 3), with descriptions.

        References are `#/components/schemas/<name>` (3) or `#/definitions/<name>` (2). Version 2 has no defaults.
        """
        node = self._load(name)
        texts = self.descriptions(name)
        if texts.get(""):
            node["description"] = texts[""]
        for field, child in node.get("properties", {}).items():
            if field in texts:
                child["description"] = texts[field]
        return _publish_v3(node) if version == 3 else _publish_v2(node)

    def _load(self, name: str) -> Json:
        start, size = self._definitions[name]
        found: Json = orjson.loads(self._packed[start : start + size])
        return found

    def _build(self, name: str) -> Schema:
        node = self._load(name)
        schema = _leaf(node)
        schema.name = name
        self._schemas[name] = schema
        if name in _SCALARS:
            schema.type, schema.scalar = _SCALARS[name]
            if schema.scalar == "json-schema-or":
                schema.items = self.schema(f"{_EXTENSIONS}.JSONSchemaProps")
            return schema
        self._fill(schema, node)
        return schema

    def _node(self, node: Json) -> Schema:
        ref = node.get("$ref")
        if isinstance(ref, str):
            return _with_siblings(self.schema(ref), node)
        schema = _leaf(node)
        self._fill(schema, node)
        return schema

    def _fill(self, schema: Schema, node: Json) -> None:
        for name, child in node.get("properties", {}).items():
            schema.properties[name] = self._node(child)
            fact = child.get("x-go")
            if fact is not None:
                schema.fields[name] = fact
        if "items" in node:
            schema.items = self._node(node["items"])
        if "additionalProperties" in node:
            schema.additional_properties = self._node(node["additionalProperties"])


def _read(path: Path, count: int) -> list[bytes]:
    """Return the first `count` sections of the packed file."""
    sections = []
    with path.open("rb") as file:
        for _ in range(count):
            (size,) = struct.unpack("<I", file.read(4))
            sections.append(zlib.decompress(file.read(size)))
    return sections


def _leaf(node: Json) -> Schema:
    """Return a node without its children."""
    schema = Schema(type=node.get("type", ""))
    if node.get("default") not in (None, {}):
        schema.default = node["default"]
    if "format" in node or "required" in node:
        schema.validations = ValueValidations(format=node.get("format"), required=tuple(node.get("required", ())))
    if node.get("format") == "byte":
        schema.scalar = "bytes"
    elif node.get("x-go", "").endswith(" v1.Duration"):
        schema.scalar = "duration"
    _set_extensions(schema, node)
    return schema


def _set_extensions(schema: Schema, node: Json) -> None:
    if "x-kubernetes-list-type" in node:
        schema.list_type = ListType(node["x-kubernetes-list-type"])
    schema.list_map_keys = tuple(node.get("x-kubernetes-list-map-keys", schema.list_map_keys))
    if "x-kubernetes-map-type" in node:
        schema.map_type = MapType(node["x-kubernetes-map-type"])
    if "x-kubernetes-patch-strategy" in node:
        schema.patch_strategy = tuple(node["x-kubernetes-patch-strategy"].split(","))
    schema.patch_merge_key = node.get("x-kubernetes-patch-merge-key", schema.patch_merge_key)


def _with_siblings(target: Schema, node: Json) -> Schema:
    """Return the target of a reference, or a copy with the reference's own patch settings.

    The copy shares the target's properties.
    """
    if not any(key in node for key in _PATCH_KEYS):
        return target
    copy = replace(target)
    _set_extensions(copy, node)
    return copy


def _publish_v3(node: Json) -> Json:
    result: Json = {}
    for key, value in node.items():
        if key == "properties":
            result[key] = {name: _publish_v3(child) for name, child in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            result[key] = _publish_v3(value)
        elif key not in ("x-go", "$ref"):
            result[key] = value
    ref = node.get("$ref")
    if isinstance(ref, str):
        target = {"$ref": f"#/components/schemas/{ref}"}
        return {**result, "allOf": [target]} if result else target
    return result


def _publish_v2(node: Json) -> Json:
    if "oneOf" in node:
        kept = {key: value for key, value in node.items() if key in ("description", "format")}
        return {**kept, "type": "string"}
    result: Json = {}
    for key, value in node.items():
        if key == "properties":
            result[key] = {name: _publish_v2(child) for name, child in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            result[key] = _publish_v2(value)
        elif key == "$ref" and isinstance(value, str):
            result[key] = f"#/definitions/{value}"
        elif key not in ("x-go", "default"):
            result[key] = value
    return result
