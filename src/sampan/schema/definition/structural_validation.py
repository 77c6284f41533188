"""Validate a CRD's `openAPIV3Schema` before it is registered.

Source: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go,
pkg/apiserver/schema/defaulting/validation.go (1.36).
"""

import copy
from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, invalid
from sampan.schema.decoding.decode import Lost
from sampan.schema.decoding.decode_error import DecodeError
from sampan.schema.definition.keywords import keyword_errors
from sampan.schema.definition.openapi import parse
from sampan.schema.definition.structure import structural_errors
from sampan.schema.embedded import all_embedded_errors
from sampan.schema.prune import compile_value_pruner
from sampan.schema.validation.report import Reporter
from sampan.schema.work import begin_steps, end_steps

__all__ = ["default_errors", "keyword_errors", "structural_errors", "validate_structural"]

Json = dict[str, Any]

_UNSUPPORTED_KEYS = ("id", "$schema", "$ref", "patternProperties", "dependencies", "additionalItems", "definitions")


def validate_structural(schema: Json, path: Path) -> list[FieldError]:
    """Return all errors of a version's schema except those of its CEL rules; `path` is the path of the schema.

    Validates the structure, then the defaults if the schema is structural, and in any case the keywords.
    Raises 413 if the defaults need too much work.
    """
    errors: list[FieldError] = []
    if not any(_uses_unsupported(node) for node in _walk(schema)):
        steps = begin_steps()
        try:
            errors = structural_errors(schema, path) or list(default_errors(schema, path))
        finally:
            end_steps(steps)
    errors += keyword_errors(schema, path)
    if not errors and any(node.get("$schema") for node in _walk(schema)):
        errors.append(invalid(path, "", "OpenAPIV3Schema 'schema' is not supported"))
    return errors


def default_errors(schema: Json, path: Path, *, inside_meta: bool = False) -> Iterator[FieldError]:
    """Yield errors for defaults that are invalid or have unknown fields."""
    if schema.get("default") is not None:
        yield from _own_default_errors(schema, path.child("default"), inside_meta)
    if isinstance(schema.get("items"), dict):
        yield from default_errors(schema["items"], path.child("items"), inside_meta=inside_meta)
    for name, child in (schema.get("properties") or {}).items():
        is_meta = bool(schema.get("x-kubernetes-embedded-resource")) and name in ("metadata", "apiVersion", "kind")
        place = path.child("properties").key(name)
        yield from default_errors(child, place, inside_meta=inside_meta or is_meta)


def _own_default_errors(schema: Json, path: Path, inside_meta: bool) -> Iterator[FieldError]:
    node, default = parse(schema), schema["default"]
    prune = None if inside_meta else compile_value_pruner(node, lambda value, lost: value)
    if prune is not None and isinstance(default, dict | list):
        lost: Lost = []
        try:
            prune(copy.deepcopy(default), lost)
        except DecodeError as error:
            yield invalid(path, default, str(error))
            return
        if lost:
            yield invalid(path, default, "must not have unknown fields")
    yield from Reporter(str(path)).report(node, default)
    yield from all_embedded_errors(node, default, path)


def _uses_unsupported(node: Json) -> bool:
    unusable = any(node.get(key) not in (None, "", {}) for key in _UNSUPPORTED_KEYS)
    return unusable or isinstance(node.get("items"), list) or node.get("x-kubernetes-preserve-unknown-fields") is False


def _walk(node: Json) -> Iterator[Json]:
    yield node
    for key in ("items", "additionalProperties", "not"):
        if isinstance(node.get(key), dict):
            yield from _walk(node[key])
    for key in ("allOf", "anyOf", "oneOf"):
        for child in node.get(key) or ():
            yield from _walk(child)
    for child in (node.get("properties") or {}).values():
        yield from _walk(child)
