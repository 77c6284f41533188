"""Convert OpenAPI v3, the `openAPIV3Schema` of a CustomResourceDefinition, to `Schema` and back.

Titles, examples and external documentation are dropped, because they restrict nothing. Publish the original schema
instead.
"""

from typing import Any

from sampan.schema.structural import UNSET, ListType, MapType, Schema, ValidationRule, ValueValidations

Json = dict[str, Any]

_VALIDATIONS = {
    "format": "format",
    "maximum": "maximum",
    "exclusiveMaximum": "exclusive_maximum",
    "minimum": "minimum",
    "exclusiveMinimum": "exclusive_minimum",
    "maxLength": "max_length",
    "minLength": "min_length",
    "pattern": "pattern",
    "maxItems": "max_items",
    "minItems": "min_items",
    "uniqueItems": "unique_items",
    "multipleOf": "multiple_of",
    "enum": "enum",
    "maxProperties": "max_properties",
    "minProperties": "min_properties",
}
_JUNCTORS = {"allOf": "all_of", "anyOf": "any_of", "oneOf": "one_of"}
_FLAGS = {
    "nullable": "nullable",
    "x-kubernetes-int-or-string": "int_or_string",
    "x-kubernetes-preserve-unknown-fields": "preserve_unknown_fields",
    "x-kubernetes-embedded-resource": "embedded_resource",
}
_RULE = {
    "rule": "rule",
    "message": "message",
    "messageExpression": "message_expression",
    "reason": "reason",
    "fieldPath": "field_path",
    "optionalOldSelf": "optional_old_self",
}
_LIST_TYPES = frozenset(ListType)
_MAP_TYPES = frozenset(MapType)


def parse(openapi: Json) -> Schema:
    """Parse a schema. Ignores keywords that a CRD may not use; `validate_structural` reports them."""
    schema = Schema(type=openapi.get("type", ""), description=openapi.get("description", ""))
    for key, attribute in _FLAGS.items():
        if openapi.get(key):
            setattr(schema, attribute, True)
    if openapi.get("default") is not None:
        schema.default = openapi["default"]
    schema.validations = _parse_validations(openapi)
    schema.rules = tuple(_parse_rule(rule) for rule in openapi.get("x-kubernetes-validations") or ())
    if openapi.get("x-kubernetes-list-type") in _LIST_TYPES:
        schema.list_type = ListType(openapi["x-kubernetes-list-type"])
    if openapi.get("x-kubernetes-map-type") in _MAP_TYPES:
        schema.map_type = MapType(openapi["x-kubernetes-map-type"])
    schema.list_map_keys = tuple(openapi.get("x-kubernetes-list-map-keys") or ())
    schema.properties = {name: parse(child) for name, child in (openapi.get("properties") or {}).items()}
    additional = openapi.get("additionalProperties")
    schema.additional_properties = parse(additional) if isinstance(additional, dict) else additional
    items = openapi.get("items")
    schema.items = parse(items) if isinstance(items, dict) else None
    return schema


def to_openapi(schema: Schema) -> Json:
    """Return the OpenAPI v3 form, with references resolved. Raises `RecursionError` for recursive built-in types."""
    result: Json = {}
    if schema.description:
        result["description"] = schema.description
    if schema.type:
        result["type"] = schema.type
    for key, attribute in _FLAGS.items():
        if getattr(schema, attribute):
            result[key] = True
    if schema.default is not UNSET:
        result["default"] = schema.default
    if schema.validations is not None:
        _write_validations(schema.validations, result)
    if schema.rules:
        result["x-kubernetes-validations"] = [_write_rule(rule) for rule in schema.rules]
    _write_lists(schema, result)
    if schema.properties:
        result["properties"] = {name: to_openapi(child) for name, child in schema.properties.items()}
    additional = schema.additional_properties
    if additional is not None:
        result["additionalProperties"] = to_openapi(additional) if isinstance(additional, Schema) else additional
    if schema.items is not None:
        result["items"] = to_openapi(schema.items)
    return result


def _parse_validations(openapi: Json) -> ValueValidations | None:
    found = {_VALIDATIONS[key]: value for key, value in openapi.items() if key in _VALIDATIONS and value is not None}
    if openapi.get("required"):
        found["required"] = tuple(openapi["required"])
    for key, attribute in _JUNCTORS.items():
        if openapi.get(key):
            found[attribute] = tuple(parse(child) for child in openapi[key])
    if openapi.get("not") is not None:
        found["not_"] = parse(openapi["not"])
    return ValueValidations(**found) if found else None


def _parse_rule(rule: Json) -> ValidationRule:
    return ValidationRule(**{attribute: rule[key] for key, attribute in _RULE.items() if rule.get(key) is not None})


def _write_validations(validations: ValueValidations, result: Json) -> None:
    for key, attribute in _VALIDATIONS.items():
        value = getattr(validations, attribute)
        if value is not None and value is not False:
            result[key] = value
    if validations.required:
        result["required"] = list(validations.required)
    for key, attribute in _JUNCTORS.items():
        if children := getattr(validations, attribute):
            result[key] = [to_openapi(child) for child in children]
    if validations.not_ is not None:
        result["not"] = to_openapi(validations.not_)


def _write_rule(rule: ValidationRule) -> Json:
    found = {key: getattr(rule, attribute) for key, attribute in _RULE.items()}
    return {key: value for key, value in found.items() if value not in ("", None)}


def _write_lists(schema: Schema, result: Json) -> None:
    if schema.list_type is not None:
        result["x-kubernetes-list-type"] = str(schema.list_type)
    if schema.list_map_keys:
        result["x-kubernetes-list-map-keys"] = list(schema.list_map_keys)
    if schema.map_type is not None:
        result["x-kubernetes-map-type"] = str(schema.map_type)
    if schema.patch_strategy:
        result["x-kubernetes-patch-strategy"] = ",".join(schema.patch_strategy)
    if schema.patch_merge_key:
        result["x-kubernetes-patch-merge-key"] = schema.patch_merge_key
