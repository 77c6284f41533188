"""Builder of the documents: one for OpenAPI v2, and one for each group version in v3.

Source: kube-openapi pkg/{builder,builder3} as kube-apiserver configures them (1.36).
"""

from collections.abc import Iterable
from typing import Any

from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.registry.registry import ResourceRegistry
from sampan.schema.builtin import Definitions
from sampan.server.openapi.connect_operations import connect_items
from sampan.server.openapi.discovery_operations import group_items, server_items, version_item
from sampan.server.openapi.operations import META, Operation, Parameter, PathItem, base_path, path_items, tag_of
from sampan.server.openapi.schemas import closure, custom_definitions, kind_name
from sampan.server.routes.version import GIT_VERSION

Json = dict[str, Any]
Served = list[tuple[ResourceDefinition, VersionDefinition]]

_INFO = {"title": "Kubernetes", "version": GIT_VERSION}
_TOKEN = {"description": "Bearer Token authentication", "in": "header", "name": "authorization", "type": "apiKey"}
_REASONS = {200: "OK", 201: "Created", 202: "Accepted"}


def group_versions(registry: ResourceRegistry) -> dict[str, Served]:
    """Return the served versions by path without the leading slash (`api/v1`, `apis/apps/v1`)."""
    found: dict[str, Served] = {}
    for definition in registry.definitions():
        for version in definition.versions.values():
            if version.served:
                path = base_path(definition.group, version.name)[1:]
                found.setdefault(path, []).append((definition, version))
    return dict(sorted(found.items()))


def document_v3(served: Served, builtins: Definitions) -> Json:
    """Return the document of one group version."""
    items, known, roots = _collect(served, builtins, openapi=3)
    paths = {item.path: _item_v3(item) for item in items}
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": closure(roots, builtins, known, openapi=3),
            "securitySchemes": {"BearerToken": _TOKEN},
        },
    }


def document_v2(registry: ResourceRegistry, builtins: Definitions) -> Json:
    """Return the document of the whole server."""
    served = [pair for pairs in group_versions(registry).values() for pair in pairs]
    groups = dict.fromkeys(definition.group for definition, _ in served if definition.builtin)
    others = [*server_items(), *group_items(groups)]
    items, known, roots = _collect(served, builtins, openapi=2, others=others)
    paths = {item.path: _item_v2(item) for item in items}
    return {
        "swagger": "2.0",
        "info": _INFO,
        "paths": dict(sorted(paths.items())),
        "definitions": closure(roots, builtins, known, openapi=2),
        "securityDefinitions": {"BearerToken": _TOKEN},
        "security": [{"BearerToken": []}],
    }


def _collect(
    served: Served, builtins: Definitions, *, openapi: int, others: Iterable[PathItem] = ()
) -> tuple[list[PathItem], dict[str, Json], list[str]]:
    items = list(others)
    items += [version_item(*found) for found in dict.fromkeys((d.group, v.name) for d, v in served if d.builtin)]
    known: dict[str, Json] = {}
    roots: dict[str, None] = dict.fromkeys([f"{META}.Status", f"{META}.DeleteOptions", f"{META}.Patch"])
    names = set(builtins.names())
    for definition, version in served:
        name = kind_name(definition, version, builtins)
        if name not in names:
            known.update(custom_definitions(definition, version, name, builtins, openapi=openapi))
        own = list(path_items(definition, version, name, builtins.name_for_kind))
        own += connect_items(definition, version)
        for item in own:
            item.tag = tag_of(definition.group, version.name)
        items += own
    for operation in [operation for item in items for operation in item.operations]:
        roots |= dict.fromkeys([name for name in (operation.response, operation.body) if name])
    return items, known, list(roots)


def _extensions(operation: Operation) -> Json:
    gvk = operation.gvk
    if gvk is None:
        return {}
    kind = {"group": gvk.group, "version": gvk.version, "kind": gvk.kind}
    return {"x-kubernetes-action": operation.action, "x-kubernetes-group-version-kind": kind}


def _response(operation: Operation, prefix: str) -> Json:
    return {"$ref": f"{prefix}{operation.response}"} if operation.response else {"type": "string"}


def _unless_empty(name: str, value: list[Json]) -> Json:
    """Return a member of an object, or nothing for an empty list, as with Go's `omitempty`."""
    return {name: value} if value else {}


def _item_v3(item: PathItem) -> Json:
    result: Json = {operation.method: _operation_v3(operation, item.tag) for operation in item.operations}
    return result | _unless_empty("parameters", [_parameter_v3(parameter) for parameter in item.parameters])


def _operation_v3(operation: Operation, tag: str) -> Json:
    response = {"schema": _response(operation, "#/components/schemas/")}
    responses: Json = {
        str(code): {"description": _REASONS[code], "content": dict.fromkeys(operation.produces, response)}
        for code in operation.codes
    }
    responses["401"] = {"description": "Unauthorized"}
    result: Json = {
        "description": operation.description,
        "operationId": operation.id,
        "tags": [tag],
        **_unless_empty("parameters", [_parameter_v3(parameter) for parameter in operation.parameters]),
        "responses": responses,
        **_extensions(operation),
    }
    if operation.body:
        schema = {"schema": {"$ref": f"#/components/schemas/{operation.body}"}}
        result["requestBody"] = {"content": dict.fromkeys(operation.consumes, schema)}
        if operation.method != "delete":
            result["requestBody"]["required"] = True
    return result


def _parameter_v3(parameter: Parameter) -> Json:
    result: Json = {
        "name": parameter.name,
        "in": parameter.where,
        "description": parameter.description,
        "schema": {"type": parameter.type, "uniqueItems": True},
    }
    if parameter.where == "path":
        result["required"] = True
    return result


def _item_v2(item: PathItem) -> Json:
    result: Json = {operation.method: _operation_v2(operation, item.tag) for operation in item.operations}
    return result | _unless_empty("parameters", [_parameter_v2(parameter) for parameter in item.parameters])


def _operation_v2(operation: Operation, tag: str) -> Json:
    response = _response(operation, "#/definitions/")
    responses: Json = {str(code): {"description": _REASONS[code], "schema": response} for code in operation.codes}
    responses["401"] = {"description": "Unauthorized"}
    parameters = [_parameter_v2(parameter) for parameter in operation.parameters]
    if operation.body:
        body: Json = {"name": "body", "in": "body", "schema": {"$ref": f"#/definitions/{operation.body}"}}
        if operation.method != "delete":
            body["required"] = True
        parameters.insert(0, body)
    return {
        "description": operation.description,
        "operationId": operation.id,
        "tags": [tag],
        "schemes": ["https"],
        "consumes": list(operation.consumes) or ["*/*"],
        "produces": list(operation.produces),
        **_unless_empty("parameters", parameters),
        "responses": responses,
        **_extensions(operation),
    }


def _parameter_v2(parameter: Parameter) -> Json:
    result: Json = {
        "name": parameter.name,
        "in": parameter.where,
        "description": parameter.description,
        "type": parameter.type,
        "uniqueItems": True,
    }
    if parameter.where == "path":
        result["required"] = True
    return result
