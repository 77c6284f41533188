"""Validate that a CRD's schema is structural.

Each value has one type, and junctors (`allOf`, `anyOf`, `oneOf`, `not`) only restrict fields that are specified
outside of them.
Source: apiextensions-apiserver pkg/apiserver/schema/{validation,complete}.go (1.36).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.schema.validation.pattern import compile_pattern

Json = dict[str, Any]

_JUNCTORS = ("anyOf", "allOf", "oneOf")
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_NESTED_FORBIDDEN = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_TYPE_MISSING = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def structural_errors(schema: Json, path: Path) -> list[FieldError]:
    """Return the reasons why a schema is not structural, sorted; also used in the NonStructuralSchema condition."""
    errors = [*_node(schema, "root", path), *_completeness(schema, schema, path, path)]
    return sorted(errors, key=str)


def _node(node: Json, level: str, path: Path) -> Iterator[FieldError]:
    items, additional = node.get("items"), node.get("additionalProperties")
    if node.get("type") == "array" and items is None:
        yield required(path.child("items"), "must be specified")
    if isinstance(items, dict):
        yield from _node(items, "item", path.child("items"))
    for name, child in (node.get("properties") or {}).items():
        yield from _node(child, "field", path.child("properties").key(name))
    if additional is not None and level == "root":
        yield forbidden(path.child("additionalProperties"), "must not be used at the root")
    if isinstance(additional, dict):
        yield from _node(additional, "field", path.child("additionalProperties"))
    yield from _int_or_string(node, path)
    yield from _rules(node, path, nested=False)
    yield from _type(node, level, path)
    yield from _meta(node, level, path)


def _int_or_string(node: Json, path: Path) -> Iterator[FieldError]:
    if not node.get("x-kubernetes-int-or-string"):
        return
    for key in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if node.get(key):
            yield invalid(path.child(key), True, "must be false if x-kubernetes-int-or-string is true")


def _type(node: Json, level: str, path: Path) -> Iterator[FieldError]:
    type_ = node.get("type") or ""
    where = path.child("type")
    if node.get("x-kubernetes-embedded-resource"):
        reason = "must be object if x-kubernetes-embedded-resource is true"
        if not type_:
            yield required(where, reason)
        elif type_ != "object":
            yield invalid(where, type_, reason)
        if node.get("additionalProperties") is not None:
            reason = "must not be used if x-kubernetes-embedded-resource is set"
            yield forbidden(path.child("additionalProperties"), reason)
    elif (
        not type_
        and not node.get("x-kubernetes-int-or-string")
        and not node.get("x-kubernetes-preserve-unknown-fields")
    ):
        yield required(where, _TYPE_MISSING[level])
    if level == "root" and type_ and type_ != "object":
        yield invalid(where, type_, "must be object at the root")


def _meta(node: Json, level: str, path: Path) -> Iterator[FieldError]:
    properties = node.get("properties") or {}
    embedded = bool(node.get("x-kubernetes-embedded-resource"))
    checked = level == "root" or embedded
    for name in ("kind", "apiVersion"):
        if checked and name in properties and properties[name].get("type") != "string":
            where = path.child("properties").key(name).child("type")
            yield invalid(where, properties[name].get("type", ""), "must be string")
    if "metadata" in properties:
        metadata, where = properties["metadata"], path.child("properties").key("metadata")
        if checked and metadata.get("type") != "object":
            yield invalid(where.child("type"), metadata.get("type", ""), "must be object")
        if level == "root" and _restricts_metadata(metadata):
            yield forbidden(
                where,
                "must not specify anything other than name and generateName, but metadata is implicitly specified",
            )
    if embedded and not node.get("x-kubernetes-preserve-unknown-fields") and not properties:
        yield required(
            path.child("properties"),
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        )


def _restricts_metadata(metadata: Json) -> bool:
    used = {key for key, value in metadata.items() if value not in (None, False, "", [], {}, 0)}
    if set(metadata.get("properties") or {}) <= {"name", "generateName"}:
        used.discard("properties")
    return bool(used - {"type", "default"})


def _rules(node: Json, path: Path, *, nested: bool, skip_any_of: bool = False) -> Iterator[FieldError]:
    any_of, all_of = node.get("anyOf") or [], node.get("allOf") or []
    skip_any_of = skip_any_of or (not nested and any_of == _INT_OR_STRING)
    skip_first = not nested and bool(all_of) and all_of[0].get("anyOf") == _INT_OR_STRING
    for index, child in enumerate([] if skip_any_of else any_of):
        yield from _nested(child, path.child("anyOf").index(index))
    for index, child in enumerate(all_of):
        yield from _nested(child, path.child("allOf").index(index), skip_any_of=skip_first and index == 0)
    for index, child in enumerate(node.get("oneOf") or []):
        yield from _nested(child, path.child("oneOf").index(index))
    if node.get("not") is not None:
        yield from _nested(node["not"], path.child("not"))
    if pattern := node.get("pattern"):
        try:
            compile_pattern(pattern)
        except ValueError as error:
            text = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(path.child("pattern"), pattern, text)


def _nested(node: Json, path: Path, *, skip_any_of: bool = False) -> Iterator[FieldError]:
    """Validate an alternative of a junctor: it may restrict values, but not specify fields."""
    yield from _rules(node, path, nested=True, skip_any_of=skip_any_of)
    if isinstance(node.get("items"), dict):
        yield from _nested(node["items"], path.child("items"))
    for name, child in (node.get("properties") or {}).items():
        yield from _nested(child, path.child("properties").key(name))
    for key, reason in _NESTED_FORBIDDEN.items():
        value = node.get(key)
        if (
            value
            or (isinstance(value, dict | list) and key == "additionalProperties")
            or (key == "default" and value is not None)
        ):
            yield forbidden(path.child(key), reason)
    if "metadata" in (node.get("properties") or {}):
        yield forbidden(path.child("properties").key("metadata"), "must not be specified in a nested context")


def _completeness(rules: Json, node: Json, path: Path, rules_path: Path) -> Iterator[FieldError]:
    """Check that everything an alternative restricts is specified outside of it.

    `rules` is the node or an alternative of it.
    """
    if rules.get("not") is not None:
        yield from _nested_completeness(rules["not"], node, path, rules_path.child("not"))
    for key in ("allOf", "anyOf", "oneOf"):
        for index, child in enumerate(rules.get(key) or []):
            yield from _nested_completeness(child, node, path, rules_path.child(key).index(index))


def _nested_completeness(rules: Json, node: Json, path: Path, rules_path: Path) -> Iterator[FieldError]:
    yield from _completeness(rules, node, path, rules_path)
    if isinstance(rules.get("items"), dict):
        where = rules_path.child("items")
        if isinstance(node.get("items"), dict):
            yield from _nested_completeness(rules["items"], node["items"], path.child("items"), where)
        else:
            yield required(path.child("items"), f"because it is defined in {where}")
    properties = node.get("properties") or {}
    for name, child in (rules.get("properties") or {}).items():
        where, place = rules_path.child("properties").key(name), path.child("properties").key(name)
        if name in properties:
            yield from _nested_completeness(child, properties[name], place, where)
        else:
            yield required(place, f"because it is defined in {where}")
