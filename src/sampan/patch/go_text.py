"""Values as Go prints them with %v and %#v: error texts of patches repeat them."""

from typing import Any

from sampan.core.field import quote


def plain(value: Any) -> str:
    """%v: `map[a:1 b:[x y]]`, `<nil>`, strings without quotes."""
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
    """%#v: `map[string]interface {}{"a":1}`, `[]interface {}{"x"}`, strings quoted."""
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
    """The Go type that a decoded JSON value has."""
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
    """What Go's JSON decoder calls a value in its errors."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    return "object" if isinstance(value, dict) else "array"
