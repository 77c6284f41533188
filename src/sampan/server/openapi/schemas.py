"""Definitions of the documents: built-in ones from the packed data, custom ones from CRDs.

Source: apiextensions pkg/controller/openapi/builder (1.36).
"""

from collections.abc import Container, Iterator
from dataclasses import replace
from typing import Any

from sampan.core.gvk import GroupVersionKind
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.schema.builtin import Definitions
from sampan.schema.definition.openapi import to_openapi
from sampan.schema.structural import Schema
from sampan.server.openapi.operations import META

Json = dict[str, Any]
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_ANY_KIND = "io.k8s.api.core.v1.ConfigMap"
_LOSSY = ("oneOf", "anyOf", "allOf", "not", "nullable", "example", "externalDocs")


def kind_name(definition: ResourceDefinition, version: VersionDefinition, builtins: Definitions) -> str:
    """Return the name of a kind's definition: `io.k8s.api.apps.v1.Deployment`, or with the CRD's group reversed."""
    gvk = GroupVersionKind(definition.group, version.name, definition.kind)
    found = builtins.name_for_kind(gvk) if definition.builtin else None
    if found is not None:
        return found
    reversed_group = ".".join(reversed(definition.group.split("."))) or "core"
    return f"{reversed_group}.{version.name}.{definition.kind}"


def custom_definitions(
    definition: ResourceDefinition, version: VersionDefinition, name: str, builtins: Definitions, *, openapi: int
) -> dict[str, Json]:
    """Return the definitions of the kind and its list, for a type that is not built in."""
    gvk = {"group": definition.group, "version": version.name, "kind": definition.kind}
    prefix = "#/components/schemas/" if openapi == 3 else "#/definitions/"
    type_meta = _type_meta(builtins)
    kind = _kind(version, set(builtins.names()), type_meta, prefix, openapi)
    kind["x-kubernetes-group-version-kind"] = [gvk]
    if version.selectable_fields:
        kind["x-kubernetes-selectable-fields"] = [{"fieldPath": path.lstrip(".")} for path in version.selectable_fields]
    items: Json = {"type": "array", "description": f"List of {definition.resource}.", "items": {"$ref": prefix + name}}
    listed: Json = {
        "description": f"{definition.list_kind} is a list of {definition.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **type_meta,
            "items": items,
            "metadata": _reference(f"{prefix}{META}.ListMeta", "Standard list metadata.", openapi),
        },
        "x-kubernetes-group-version-kind": [{**gvk, "kind": definition.list_kind}],
    }
    return {name: kind, f"{name}List": listed}


def _kind(version: VersionDefinition, known: Container[str], type_meta: Json, prefix: str, openapi: int) -> Json:
    """Return the schema of the kind: the CRD's schema with descriptions of metadata and type.

    Old versions of built-in types are described by their schema, which refers to the current types. In v2, a root that
    preserves unknown fields becomes an object without properties. Otherwise kubectl would refuse all other fields.
    """
    root = version.openapi
    if root is None:
        return _inlined(version.schema(), known, prefix)
    if not root or (openapi == 2 and version.schema().preserve_unknown_fields):
        return {"type": "object"}
    kind = _described_embedded(_lossy(root) if openapi == 2 else root, type_meta, prefix, openapi)
    kind.setdefault("type", "object")
    kind["properties"] = {**kind.get("properties", {}), **type_meta}
    kind["properties"]["metadata"] = _reference(f"{prefix}{META}.ObjectMeta", "Standard object's metadata.", openapi)
    return kind


def _inlined(schema: Schema, known: Container[str], prefix: str) -> Json:
    """Return a schema as OpenAPI, with references to named types."""

    def below(child: Schema) -> Json:
        return {"$ref": prefix + child.name} if child.name in known else _inlined(child, known, prefix)

    node = to_openapi(replace(schema, properties={}, items=None, additional_properties=None))
    if schema.properties:
        node["properties"] = {name: below(child) for name, child in schema.properties.items()}
    if schema.items is not None:
        node["items"] = below(schema.items)
    if isinstance(schema.additional_properties, Schema):
        node["additionalProperties"] = below(schema.additional_properties)
    return node


def _described_embedded(node: Json, type_meta: Json, prefix: str, openapi: int) -> Json:
    """Return a copy in which embedded resources have the common fields of objects."""
    node = dict(node)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            node[key] = _described_embedded(node[key], type_meta, prefix, openapi)
    if node.get("properties"):
        node["properties"] = {
            name: _described_embedded(child, type_meta, prefix, openapi) for name, child in node["properties"].items()
        }
    if node.get("x-kubernetes-embedded-resource") and not (openapi == 2 and node.get(_PRESERVE)):
        metadata = _reference(f"{prefix}{META}.ObjectMeta", "Standard object's metadata.", openapi)
        node["properties"] = {**node.get("properties", {}), **type_meta, "metadata": metadata}
        node["required"] = list(dict.fromkeys([*node.get("required", ()), "kind", "apiVersion"]))
    return node


def _type_meta(builtins: Definitions) -> Json:
    """Return the common fields of all kinds, with the descriptions of the built-in kinds."""
    fields = ("apiVersion", "kind")
    return {name: {"type": "string", "description": builtins.description(_ANY_KIND, name)} for name in fields}


def _reference(target: str, description: str, openapi: int) -> Json:
    if openapi == 3:
        return {"description": description, "allOf": [{"$ref": target}]}
    return {"description": description, "$ref": target}


def _lossy(node: Json) -> Json:
    """Loosen a schema for OpenAPI v2, which has neither alternatives nor null.

    Source: apiextensions pkg/controller/openapi/v2/conversion.go (1.36).
    """
    result = {key: value for key, value in node.items() if key not in _LOSSY}
    if node.get("nullable"):
        for key in ("type", "items", "properties"):
            result.pop(key, None)
    if node.get(_PRESERVE):
        result.pop("items", None)
        result.pop("properties", None)
    if result.get("type") == "array" and "items" not in result:
        del result["type"]
    if node.get(_PRESERVE) and result.get("type") == "object":
        del result["type"]
    _loosen_required(result)
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = _lossy(result[key])
    if "properties" in result:
        result["properties"] = {name: _lossy(child) for name, child in result["properties"].items()}
    return result


def _loosen_required(node: Json) -> None:
    """Make nullable fields optional."""
    additional = node.get("additionalProperties")
    if isinstance(additional, dict) and additional.get("nullable"):
        node.pop("required", None)
        return
    if node.get("required"):
        properties = node.get("properties") or {}
        node["required"] = [name for name in node["required"] if not properties.get(name, {}).get("nullable")]
        if not node["required"]:
            del node["required"]


def closure(
    names: Iterator[str] | list[str], builtins: Definitions, known: dict[str, Json], *, openapi: int
) -> dict[str, Json]:
    """Return the definitions with these names, and all that they refer to. `known` contains the definitions that are
    not built in.
    """
    result: dict[str, Json] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in result:
            continue
        node = known[name] if name in known else _builtin(name, builtins, openapi)
        if node is None:
            continue
        result[name] = node
        waiting.extend(references(node))
    return dict(sorted(result.items()))


def _builtin(name: str, builtins: Definitions, openapi: int) -> Json | None:
    try:
        return builtins.raw(name, version=openapi)
    except KeyError:
        return None


def references(node: Any) -> Iterator[str]:
    """Yield the names that a schema refers to."""
    if isinstance(node, list):
        for item in node:
            yield from references(item)
    elif isinstance(node, dict):
        target = node.get("$ref")
        if isinstance(target, str):
            yield target.rpartition("/")[2]
        for value in node.values():
            if isinstance(value, dict | list):
                yield from references(value)
