"""Definitions for the documents: built-in ones from the packed data, those of custom resources from their CRDs.

Source: apiextensions pkg/controller/openapi/builder (1.36).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.gvk import GroupVersionKind
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.schema.builtin import Definitions
from sampan.schema.openapi import to_openapi
from sampan.server.openapi.operations import META

Json = dict[str, Any]
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_LOSSY = ("oneOf", "anyOf", "allOf", "not", "nullable", "default")


def kind_name(definition: ResourceDefinition, version: VersionDefinition, builtins: Definitions) -> str:
    """The name of a kind's definition: `io.k8s.api.apps.v1.Deployment`, or the CRD's group reversed."""
    gvk = GroupVersionKind(definition.group, version.name, definition.kind)
    found = builtins.name_for_kind(gvk) if definition.builtin else None
    if found is not None:
        return found
    reversed_group = ".".join(reversed(definition.group.split("."))) or "core"
    return f"{reversed_group}.{version.name}.{definition.kind}"


def custom_definitions(
    definition: ResourceDefinition, version: VersionDefinition, name: str, *, openapi: int
) -> dict[str, Json]:
    """The kind and its list, for a type that is not among the built-in definitions.

    Old versions of built-in types are published as objects of any content.
    """
    gvk = {"group": definition.group, "version": version.name, "kind": definition.kind}
    prefix = "#/components/schemas/" if openapi == 3 else "#/definitions/"
    root = {"type": "object", _PRESERVE: True} if definition.builtin else to_openapi(version.schema())
    permissive = root.pop(_PRESERVE, False) and openapi == 2
    kind: Json = {"type": "object"} if permissive else root if openapi == 3 else _lossy(root)
    kind["properties"] = {**kind.get("properties", {}), **_type_meta()}
    kind["properties"]["metadata"] = _reference(f"{prefix}{META}.ObjectMeta", "Standard object's metadata.", openapi)
    if permissive:
        kind[_PRESERVE] = True
    kind["x-kubernetes-group-version-kind"] = [gvk]
    items: Json = {"type": "array", "description": f"List of {definition.resource}.", "items": {"$ref": prefix + name}}
    listed: Json = {
        "description": f"{definition.list_kind} is a list of {definition.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **_type_meta(),
            "items": items,
            "metadata": _reference(f"{prefix}{META}.ListMeta", "Standard list metadata.", openapi),
        },
        "x-kubernetes-group-version-kind": [{**gvk, "kind": definition.list_kind}],
    }
    return {name: kind, f"{name}List": listed}


def _type_meta() -> Json:
    return {
        "apiVersion": {"type": "string", "description": "APIVersion names the version of this representation."},
        "kind": {"type": "string", "description": "Kind names the type of this object."},
    }


def _reference(target: str, description: str, openapi: int) -> Json:
    if openapi == 3:
        return {"description": description, "allOf": [{"$ref": target}]}
    return {"description": description, "$ref": target}


def _lossy(node: Any) -> Any:
    """OpenAPI v2 knows no alternatives and no null: a looser schema is published instead."""
    if isinstance(node, list):
        return [_lossy(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {key: value for key, value in node.items() if key not in _LOSSY}
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), dict):
            result[key] = _lossy(result[key])
    if "properties" in result:
        result["properties"] = {name: _lossy(child) for name, child in result["properties"].items()}
    if result.get("x-kubernetes-int-or-string"):
        return {"x-kubernetes-int-or-string": True, **_described(result)}
    if result.get("x-kubernetes-preserve-unknown-fields"):
        return {"x-kubernetes-preserve-unknown-fields": True, **_described(result), **_typed(result)}
    if node.get("nullable") or ("type" not in result and "$ref" not in result):
        result.pop("type", None)
    return result


def _described(node: Json) -> Json:
    return {"description": node["description"]} if node.get("description") else {}


def _typed(node: Json) -> Json:
    return {"type": node["type"]} if node.get("type") else {}


def closure(
    names: Iterator[str] | list[str], builtins: Definitions, known: dict[str, Json], *, openapi: int
) -> dict[str, Json]:
    """The definitions of these names and of all that they refer to; `known` holds those that are not built in."""
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
    """The names that a schema refers to."""
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
