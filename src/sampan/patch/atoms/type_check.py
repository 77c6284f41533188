"""Check an applied configuration against the schema, as far as merging requires: types, fields, identities of items.

Source: structured-merge-diff typed/{validate,helpers}.go (v6).
"""

from typing import Any, Final

from sampan.core.go_text import boxed, boxed_syntax, type_name
from sampan.patch.atoms.atom import Atom, ElementError
from sampan.patch.atoms.atom_list import ListAtom
from sampan.patch.atoms.atom_schema import atom_of, root_schema
from sampan.patch.field_sets.path_element import element_text
from sampan.schema.structural import Schema

_FITTING: Final[dict[type, tuple[str, ...]]] = {
    str: ("string",),
    int: ("integer", "number"),
    float: ("integer", "number"),
    bool: ("boolean",),
}
"""Schema types that accept every JSON scalar of a Python type. Most values have one of these types, so they are checked
first.
"""


def type_errors(schema: Schema | None, config: Any) -> list[str]:
    """Return the errors in `config`; each begins with its path (`.spec.foo: field not declared in schema`)."""
    if schema is None:
        return []
    errors: list[str] = []
    root = root_schema(schema)
    _check(root, config, "", errors, root.preserve_unknown_fields)
    return errors


def _check(schema: Schema, value: Any, path: str, errors: list[str], preserve: bool) -> None:
    if value is None:
        return
    preserve = preserve or schema.preserve_unknown_fields
    if schema.scalar in ("raw", "json-schema-or", "fields-v1"):
        return
    if schema.type == "object":
        if isinstance(value, dict):
            _check_map(schema, value, path, errors, preserve)
        else:
            errors.append(_at(path, f"expected map, got {boxed(value)}"))
    elif schema.type == "array":
        if isinstance(value, list):
            _check_list(schema, value, path, errors, preserve)
        else:
            errors.append(_at(path, f"expected list, got {boxed(value)}"))
    elif schema.type or schema.scalar or schema.int_or_string:
        fault = _scalar_fault(schema, value)
        if fault:
            errors.append(_at(path, fault))
    elif isinstance(value, dict):
        _check_map(schema, value, path, errors, preserve or not schema.properties)


def _check_map(schema: Schema, value: dict[str, Any], path: str, errors: list[str], preserve: bool) -> None:
    properties = schema.properties
    additional = schema.additional_properties
    open_ended = preserve or additional is True or (additional is None and not properties)
    for name, item in value.items():
        child = properties.get(name)
        if child is None and isinstance(additional, Schema):
            child = additional
        if child is not None:
            if item is not None and child.type not in _FITTING.get(item.__class__, ()):
                _check(child, item, f"{path}.{name}", errors, preserve)
        elif not open_ended:
            errors.append(f"{path}.{name}: field not declared in schema")
            return


def _check_list(schema: Schema, value: list[Any], path: str, errors: list[str], preserve: bool) -> None:
    atom = atom_of(schema, preserve)
    if isinstance(atom, ListAtom):
        # Errors contain the path, so only lists without any are kept.
        known = atom.checked
        before, text = len(errors), known.text(value)
        if known.get(text) is None:
            _check_items(schema, atom, value, path, errors, preserve)
            if len(errors) == before:
                known.put(text, True)
        return
    _check_items(schema, atom, value, path, errors, preserve)


def _check_items(schema: Schema, atom: Atom, value: list[Any], path: str, errors: list[str], preserve: bool) -> None:
    items = schema.items
    seen: set[str] = set()
    for index, item in enumerate(value):
        place = f"[{index}]"
        if isinstance(atom, ListAtom):
            try:
                element = atom.element(item)
            except ElementError as error:
                errors.append(_at(path, f"element {index}: {error}"))
                return
            place = element_text(element)
            if element in seen:
                errors.append(_at(path, f"duplicate entries for key {place}"))
            seen.add(element)
        if items is not None:
            _check(items, item, path + place, errors, preserve)


def _scalar_fault(schema: Schema, value: Any) -> str:
    kind = schema.type
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"expected numeric (int or float), got {type_name(value)}"
    elif kind == "boolean":
        if not isinstance(value, bool):
            return f"expected boolean, got {boxed(value)}"
    elif kind == "string" and _is_plain_string(schema):
        if not isinstance(value, str):
            return f"expected string, got {boxed_syntax(value)}"
    elif isinstance(value, dict | list):
        return f"expected any scalar, got {boxed(value)}"
    return ""


def _is_plain_string(schema: Schema) -> bool:
    """Report whether only strings are valid. Strings of most formats accept any scalar."""
    if schema.scalar:
        return schema.scalar in ("bytes", "duration")
    return schema.validations is None or schema.validations.format in (None, "", "byte")


def _at(path: str, text: str) -> str:
    return f"{path}: {text}" if path else text
