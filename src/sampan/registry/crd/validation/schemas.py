"""Checks of the schemas of a CRD.

Source: apiextensions pkg/apis/apiextensions/validation/validation.go (1.36).
"""

import re
from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, forbidden, invalid
from sampan.core.object import Object
from sampan.schema.cel.rules.registration import rule_errors
from sampan.schema.definition.openapi import parse
from sampan.schema.definition.structural_validation import validate_structural
from sampan.schema.validation.formats import is_known

_AT_ROOT_WITH_STATUS = frozenset(
    [
        "description",
        "type",
        "format",
        "title",
        "maximum",
        "exclusiveMaximum",
        "minimum",
        "exclusiveMinimum",
        "maxLength",
        "minLength",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "multipleOf",
        "required",
        "items",
        "properties",
        "externalDocs",
        "example",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ]
)
_PATH_TOKEN = re.compile(r"[.\[\]]|[^.\[\]]+")
_NESTED = ("items", "additionalProperties", "not")
_NESTED_LISTS = ("allOf", "anyOf", "oneOf")


def schema_faults(schema: dict[str, Any], path: Path, *, structural: bool, status: bool) -> list[FieldError]:
    """Return all faults of one version's schema: keywords, structure, defaults and CEL rules."""
    faults: list[FieldError] = []
    if status:
        faults += _root_faults(schema, path)
    if schema.get("nullable"):
        faults.append(forbidden(path.child("nullable"), "nullable cannot be true at the root"))
    if not structural:
        return faults
    faults += validate_structural(schema, path)
    if faults or not any(node.get("x-kubernetes-validations") for node in walk(schema)):
        return faults
    return rule_errors(parse(schema), path)


def _root_faults(schema: dict[str, Any], path: Path) -> list[FieldError]:
    """Return the first fault of the root: with a status subresource only some keywords are allowed."""
    if schema.get("type") and schema["type"] != "object":
        text = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
        return [invalid(path.child("type"), schema["type"], text)]
    for keyword, value in schema.items():
        if keyword not in _AT_ROOT_WITH_STATUS and value not in (None, False, [], {}):
            text = (
                'only ["'
                + '" "'.join(sorted(_AT_ROOT_WITH_STATUS))
                + '"] fields are allowed at the root of the schema if '
                "the status subresource is enabled"
            )
            return [invalid(path, keyword, text)]
    return []


def walk(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every node of a schema, each before its children."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        yield node
        below: list[dict[str, Any]] = []
        for name in _NESTED:
            child = node.get(name)
            if isinstance(child, dict):
                below.append(child)
        for name in _NESTED_LISTS:
            below.extend(node.get(name) or ())
        below.extend((node.get("properties") or {}).values())
        waiting.extend(reversed(below))


def unrecognized_formats(crd: Object) -> list[str]:
    """Return the formats in the CRD's schemas that have no effect, in order."""
    found: dict[str, None] = {}
    for version in crd["spec"].get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        for node in walk(schema) if schema else ():
            name = node.get("format")
            if name and not is_known(name, node.get("type", "")):
                found[name] = None
    return list(found)


def selectable_schema(schema: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the node that a selectable field points to. Raises `ValueError`."""
    tokens = _PATH_TOKEN.findall(path)
    node: Any = schema
    for index, token in enumerate(tokens):
        if index % 2 == 0:
            if token == "[":
                raise ValueError("array notation is not allowed")
            if token != ".":
                raise ValueError(f"expected [ or . but got: {token}")
            if index == len(tokens) - 1:
                raise ValueError("unexpected end of JSON path")
            continue
        properties = node.get("properties")
        node = properties.get(token) if properties else node.get("additionalProperties")
        if not isinstance(node, dict):
            raise ValueError("does not refer to a valid field")
    return dict(node)


def schemas_of(spec: dict[str, Any]) -> list[dict[str, Any] | None]:
    """Return the schema of each version; None for a version without one."""
    return [(version.get("schema") or {}).get("openAPIV3Schema") for version in spec.get("versions") or ()]
