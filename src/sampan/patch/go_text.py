"""Format values like Go's %v and %#v, for error messages of patches that contain them."""

from typing import Any

from sampan.core.field import quote


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
