"""Validate the keywords of a CRD's schema, and the declarations of lists and maps.

CEL rules are validated elsewhere.
Source: apiextensions-apiserver pkg/apis/apiextensions/validation/validation.go (1.36).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sampan.core.field import FieldError, Path, forbidden, invalid, not_supported, required

Json = dict[str, Any]

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_META = ("metadata", "kind", "apiVersion")
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_UNSUPPORTED = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")


@dataclass(frozen=True, slots=True)
class _Scope:
    """Restrictions at a node: the reason why defaults are forbidden, and whether it describes resource metadata."""

    is_root: bool = False
    no_defaults: str | None = None
    inside_meta: bool = False


def keyword_errors(schema: Json, path: Path) -> list[FieldError]:
    """Return the errors of a version's whole schema."""
    return list(_node(schema, path, _Scope(is_root=True)))


def _node(node: Json, path: Path, scope: _Scope) -> Iterator[FieldError]:
    yield from _standard(node, path, scope)
    below = replace(scope, is_root=False)
    additional, properties = node.get("additionalProperties"), node.get("properties") or {}
    if node.get("uniqueItems"):
        reason = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(path.child("uniqueItems"), reason)
    if additional is not None and additional is not True and properties:
        reason = "additionalProperties and properties are mutual exclusive"
        yield forbidden(path.child("additionalProperties"), reason)
    if isinstance(additional, dict):
        reason = "inside additionalProperties applying to object metadata"
        inner = replace(below, no_defaults=reason) if scope.inside_meta else below
        yield from _node(additional, path.child("additionalProperties"), inner)
    for name, child in properties.items():
        yield from _node(child, path.child("properties").key(name), _property_scope(node, name, scope))
    yield from _junctors(node, path, below)
    items = node.get("items")
    if isinstance(items, dict):
        yield from _node(items, path.child("items"), below)
    if node.get("x-kubernetes-preserve-unknown-fields") is False:
        yield invalid(path.child("x-kubernetes-preserve-unknown-fields"), False, "must be true or undefined")
    yield from _map_type(node, path)
    yield from _list_type(node, path)
    if isinstance(items, dict):
        yield from _map_keys_usable(node, items, path)
    for index, rule in enumerate(node.get("x-kubernetes-validations") or ()):
        yield from _rule(rule, path.child("x-kubernetes-validations").index(index))


def _property_scope(node: Json, name: str, scope: _Scope) -> _Scope:
    below = replace(scope, is_root=False)
    if name in _META and (scope.is_root or node.get("x-kubernetes-embedded-resource")):
        below = replace(below, inside_meta=True)
        if scope.is_root:
            below = replace(below, no_defaults=f"in top-level {name}")
    return below


def _junctors(node: Json, path: Path, scope: _Scope) -> Iterator[FieldError]:
    if isinstance(node.get("not"), dict):
        yield from _node(node["not"], path.child("not"), scope)
    for key in ("allOf", "oneOf", "anyOf"):
        for index, child in enumerate(node.get(key) or []):
            yield from _node(child, path.child(key).index(index), scope)


def _standard(node: Json, path: Path, scope: _Scope) -> Iterator[FieldError]:
    type_ = node.get("type") or ""
    if type_ and type_ not in _TYPES:
        yield not_supported(path.child("type"), type_, _TYPES)
    if node.get("default") is not None and scope.no_defaults is not None:
        yield forbidden(path.child("default"), f"must not be set {scope.no_defaults}")
    for key in _UNSUPPORTED:
        if node.get(key) not in (None, "", {}):
            yield forbidden(path.child(key), f"{key} is not supported")
    if type_ == "null":
        yield forbidden(path.child("type"), "type cannot be set to null, use nullable as an alternative")
    if isinstance(node.get("items"), list) and node["items"]:
        yield forbidden(path.child("items"), "items must be a schema object and not an array")
    if scope.inside_meta and node.get("x-kubernetes-embedded-resource"):
        yield forbidden(path.child("x-kubernetes-embedded-resource"), "must not be used inside of resource meta")


def _rule(rule: Json, path: Path) -> Iterator[FieldError]:
    """Validate the form of a CEL rule."""
    text, message, where = rule.get("rule") or "", rule.get("message") or "", rule.get("fieldPath") or ""
    if not text.strip():
        yield required(path.child("rule"), "rule is not specified")
    elif message and not message.strip():
        yield invalid(path.child("message"), message, "must be non-empty if specified")
    elif _has_line_breaks(message.strip()):
        yield invalid(path.child("message"), message, "must not contain line breaks")
    elif _has_line_breaks(text.strip()) and not message.strip():
        yield required(path.child("message"), "message must be specified if rule contains line breaks")
    if rule.get("messageExpression") and not rule["messageExpression"].strip():
        yield required(path.child("messageExpression"), "messageExpression must be non-empty if specified")
    if rule.get("reason") is not None and rule["reason"] not in _REASONS:
        yield not_supported(path.child("reason"), rule["reason"], _REASONS)
    if where and not where.strip():
        yield invalid(path.child("fieldPath"), where, "must be non-empty if specified")
    if _has_line_breaks(where):
        yield invalid(path.child("fieldPath"), where, "must not contain line breaks")


def _has_line_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _map_type(node: Json, path: Path) -> Iterator[FieldError]:
    map_type = node.get("x-kubernetes-map-type")
    if map_type is None:
        return
    yield from _needs_type(node, path, "object", "x-kubernetes-map-type")
    if map_type not in ("atomic", "granular"):
        yield not_supported(path.child("x-kubernetes-map-type"), map_type, ("atomic", "granular"))


def _needs_type(node: Json, path: Path, expected: str, key: str) -> Iterator[FieldError]:
    type_ = node.get("type") or ""
    reason = f"must be {expected} if {key} is specified"
    if not type_:
        yield required(path.child("type"), reason)
    elif type_ != expected:
        yield invalid(path.child("type"), type_, reason)


def _list_type(node: Json, path: Path) -> Iterator[FieldError]:
    list_type, keys = node.get("x-kubernetes-list-type"), node.get("x-kubernetes-list-map-keys") or []
    where = path.child("x-kubernetes-list-type")
    if list_type is not None and node.get("type") != "array":
        yield from _needs_type(node, path, "array", "x-kubernetes-list-type")
    elif list_type == "set" and isinstance(node.get("items"), dict):
        yield from _set_items(node["items"], path.child("items"))
    if list_type is not None and list_type not in ("atomic", "set", "map"):
        yield not_supported(where, list_type, ("atomic", "set", "map"))
    if keys and list_type != "map":
        reason = "must be map if x-kubernetes-list-map-keys is non-empty"
        yield required(where, reason) if list_type is None else invalid(where, list_type, reason)
    if list_type == "map":
        yield from _map_list(node, keys, path)


def _set_items(items: Json, path: Path) -> Iterator[FieldError]:
    reason = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type, map_type = items.get("x-kubernetes-list-type"), items.get("x-kubernetes-map-type")
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        yield invalid(path.child("x-kubernetes-list-type"), list_type, reason)
    elif items.get("type") == "object" and map_type != "atomic":
        yield invalid(path.child("x-kubernetes-map-type"), list_type, reason)


def _map_list(node: Json, keys: list[str], path: Path) -> Iterator[FieldError]:
    items, where = node.get("items"), path.child("x-kubernetes-list-map-keys")
    if not keys:
        yield required(where, "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        yield required(path.child("items"), "must have a schema if x-kubernetes-list-type is map")
    elif not isinstance(items, dict):
        yield invalid(path.child("items"), items, "must only have a single schema if x-kubernetes-list-type is map")
    elif items.get("type") != "object":
        reason = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(path.child("items").child("type"), items.get("type", ""), reason)
    else:
        properties = items.get("properties") or {}
        for index, key in enumerate(keys):
            if key not in properties:
                yield invalid(where, keys, "entries must all be names of item properties")
            elif properties[key].get("type") in ("array", "object"):
                reason = "must be a scalar type if parent array's x-kubernetes-list-type is map"
                place = path.child("items").child("properties").key(key).child("type")
                yield invalid(place, items["type"], reason)
            if key in keys[:index]:
                yield invalid(where, keys, "must not contain duplicate entries")


def _map_keys_usable(node: Json, items: Json, path: Path) -> Iterator[FieldError]:
    """Check that items of sets and map lists are not nullable, and that the keys of map lists always have a value."""
    list_type, where = node.get("x-kubernetes-list-type"), path.child("items")
    if list_type not in ("set", "map"):
        return
    if items.get("nullable"):
        yield forbidden(where.child("nullable"), f"cannot be nullable when x-kubernetes-list-type is {list_type}")
    if list_type != "map":
        return
    reason = "this property is in x-kubernetes-list-map-keys, so it"
    needed, properties = items.get("required") or (), items.get("properties") or {}
    for key in node.get("x-kubernetes-list-map-keys") or ():
        if key not in properties:
            continue
        place = where.child("properties").key(key)
        if key not in needed and properties[key].get("default") is None:
            yield required(place.child("default"), f"{reason} must have a default or be a required property")
        if properties[key].get("nullable"):
            yield forbidden(place.child("nullable"), f"{reason} cannot be nullable")
