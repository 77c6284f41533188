"""Texts of Go in error messages that clients match: values like %v and %#v, and errors of Go's JSON decoder."""

from typing import Any, Final

from sampan.core.field import quote

MAP: Final = "value of type map[string]interface {}"
"""Target of a JSON object in errors of Go's JSON decoder."""


def plain(value: Any) -> str:
    """Format a value like %v: `map[a:1 b:[x y]]`, `<nil>`, strings without quotes."""
    if value is None:
        return "<nil>"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{plain(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(plain(item) for item in value) + "]"
    return str(value)


def syntax(value: Any) -> str:
    """Format a value like %#v: `map[string]interface {}{"a":1}`, `[]interface {}{"x"}`, strings quoted."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        items = ", ".join(f"{quote(key)}:{syntax(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{items}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(syntax(item) for item in value)}}}"
    if value is None:
        return "interface {}(nil)"
    return plain(value)


def type_name(value: Any) -> str:
    """Return the Go type of a decoded JSON value."""
    if value is None:
        return "%!s(<nil>)"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    if isinstance(value, float):
        return "float64"
    if isinstance(value, str):
        return "string"
    return "map[string]interface {}" if isinstance(value, dict) else "[]interface {}"


def json_kind(value: Any) -> str:
    """Return the name of a value's type in errors of Go's JSON decoder."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    return "object" if isinstance(value, dict) else "array"


def unmarshal_text(value: Any, target: str) -> str:
    """Return the error of Go's JSON decoder for a value of the wrong type.

    `target` describes the Go value: `MAP`, or `struct field endpoint.JWT of type string`.
    """
    return f"json: cannot unmarshal {json_kind(value)} into Go {target}"
