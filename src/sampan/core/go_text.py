"""Texts of Go in error messages that clients match and users search for. Only this module makes them.

They are values like %v and %#v, and errors of Go's decoders of JSON, numbers, durations and timestamps. All other
errors are sentences. A test of style finds such texts in other modules.
Source: Go's fmt, encoding/json, strconv and time; apimachinery pkg/runtime/converter.go (1.36).
"""

from collections.abc import Iterable
from typing import Any, Final

from sampan.core.deep_json import DeepJson
from sampan.core.field import quote, show_float

NIL: Final = "<nil>"
"""Form of nil in %v."""
MAP: Final = "map[string]interface {}"
"""Go type of a JSON object that is decoded without a schema."""
LIST: Final = "[]interface {}"
"""Go type of a JSON list that is decoded without a schema."""
END_OF_JSON: Final = "unexpected end of JSON input"
"""Error of the JSON decoder for a text that ends too early."""

_CONVERTED: Final[dict[type, str]] = {
    int: "int64",
    float: "float64",
    str: "string",
    bool: "bool",
    list: "slice",
    dict: "map",
}
_BYTES: Final = {7: r"\a", 8: r"\b", 9: r"\t", 10: r"\n", 11: r"\v", 12: r"\f", 13: r"\r", 0x27: r"\'", 0x5C: r"\\"}


def plain(value: Any) -> str:
    """Format a value like %v: `map[a:1 b:[x y]]`, `<nil>`, strings without quotes."""
    if value is None:
        return NIL
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{plain(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(plain(item) for item in value) + "]"
    return show_float(value) if isinstance(value, float) else str(value)


def syntax(value: Any) -> str:
    """Format a value like %#v: `map[string]interface {}{"a":1}`, `[]interface {}{"x"}`, strings quoted."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, dict):
        items = ", ".join(f"{quote(key)}:{syntax(value[key])}" for key in sorted(value))
        return f"{MAP}{{{items}}}"
    if isinstance(value, list):
        return f"{LIST}{{{', '.join(syntax(item) for item in value)}}}"
    if value is None:
        return "interface {}(nil)"
    return plain(value)


def strings(values: Iterable[str]) -> str:
    """Format texts like %#v of a list of strings: `[]string{"a", "b"}`."""
    return f"[]string{{{', '.join(map(quote, values))}}}"


def boxed(value: Any) -> str:
    """Format a value like %v of a pointer to a struct with this value, as errors of applied objects do: `&{x}`."""
    return f"&{{{plain(value)}}}"


def boxed_syntax(value: Any) -> str:
    """Format a value like %#v of such a pointer: `&value.valueUnstructured{Value:1}`."""
    return f"&value.valueUnstructured{{Value:{syntax(value)}}}"


_TOO_LARGE: Final = "into Go value of type float64"


def number_too_large(text: str) -> str:
    """Return the error of the JSON decoder for a number that no float holds."""
    return kind_text(f"number {text}", "float64")


def is_number_too_large(error: str) -> bool:
    """Return True if an error is that of `number_too_large`."""
    return error.endswith(_TOO_LARGE)


def type_name(value: Any) -> str:
    """Return the Go type of a decoded JSON value, like %T."""
    if value is None:
        return NIL
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64"
    if isinstance(value, float):
        return "float64"
    if isinstance(value, str):
        return "string"
    return MAP if isinstance(value, dict) or (isinstance(value, DeepJson) and value.is_map) else LIST


def json_kind(value: Any) -> str:
    """Return the name of a value's type in errors of the JSON decoder."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    return "object" if isinstance(value, dict) or (isinstance(value, DeepJson) and value.is_map) else "array"


def json_number(value: Any) -> str:
    """Return the same for a value whose number does not fit the target; the error then has the number, too."""
    kind = json_kind(value)
    return f"number {value}" if kind == "number" else kind


def unmarshal_text(value: Any, go_type: str, *, field: str = "") -> str:
    """Return the error of the JSON decoder for a value of the wrong type.

    `field` is the struct and the path of the field, such as `DeleteOptions.dryRun`; "" if the value is the whole text.
    """
    return kind_text(json_kind(value), go_type, field=field)


def kind_text(kind: str, go_type: str, *, field: str = "") -> str:
    """Return the same error for a `kind` of `json_kind` or `json_number`."""
    place = f"struct field {field}" if field else "value"
    return f"json: cannot unmarshal {kind} into Go {place} of type {go_type}"


def not_object_text(value: Any) -> str:
    """Return the error for a JSON value that should be an object with apiVersion and kind."""
    return f"json: cannot unmarshal {json_kind(value)} into an object"


def unsupported_number(value: float) -> str:
    """Return the error of the JSON encoder for a number that JSON does not have: `NaN`, `+Inf`, `-Inf`."""
    text = "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
    return f"json: unsupported value: {text}"


def invalid_character(byte: int, context: str) -> str:
    """Return the syntax error of the JSON decoder. `context` is what it expected: `looking for beginning of value`."""
    return f"invalid character {_quoted_byte(byte)} {context}"


def _quoted_byte(byte: int) -> str:
    char = chr(byte)
    if byte in _BYTES:
        char = _BYTES[byte]
    elif not char.isprintable():
        char = f"\\x{byte:02x}" if byte < 0x80 else f"\\u{byte:04x}"
    return f"'{char}'"


def conversion_text(expected: type, value: Any, go_type: str) -> str:
    """Return the error for a value that cannot become a `go_type`, which requires JSON of the `expected` type.

    Kubernetes has it for values that are converted in memory, not decoded from JSON, as in strategic merge patches.
    """
    given = _CONVERTED[type(value)]
    if expected is dict:
        return (
            f"cannot restore map from {given}" if go_type.startswith("map[") else f"cannot restore struct from: {given}"
        )
    if expected is list:
        return f"cannot restore slice from {given}"
    if expected is str:
        return f"cannot convert int64 to {go_type}" if given == "int64" else "unrecognized type: string"
    if expected is int and given == "float64":
        return f"cannot convert float64 to {go_type}"
    return f"unrecognized type: {go_type}"


def accessor_text(path: str, value: Any, desired: str = "map[string]interface{}") -> str:
    """Return the error for a value below `path` of an object that does not have the `desired` Go type."""
    return f"{path} accessor error: {plain(value)} is of the type {type_name(value)}, expected {desired}"


def invalid_number(function: str, text: str) -> str:
    """Return the error of a function of strconv, such as `Atoi`, for a text that is not a number."""
    return f"strconv.{function}: parsing {quote(text)}: invalid syntax"


def number_out_of_range(function: str, text: str) -> str:
    """Return the error of a function of strconv for a number that is too large or too small."""
    return f"strconv.{function}: parsing {quote(text)}: value out of range"


def invalid_duration(text: str) -> str:
    """Return the error for a text that is not a duration."""
    return f"time: invalid duration {_quoted_time(text)}"


def missing_unit(text: str) -> str:
    """Return the error for a duration with a number that has no unit."""
    return f"time: missing unit in duration {_quoted_time(text)}"


def unknown_unit(unit: str, text: str) -> str:
    """Return the error for a duration with a unit that does not exist."""
    return f"time: unknown unit {_quoted_time(unit)} in duration {_quoted_time(text)}"


def invalid_time(text: str, reason: str) -> str:
    """Return the error for a timestamp that does not exist; `reason` is `day out of range` or similar."""
    return f"parsing time {_quoted_time(text)}: {reason}"


def extra_time(text: str, rest: str) -> str:
    """Return the error for a timestamp that is followed by `rest`."""
    return invalid_time(text, f"extra text: {_quoted_time(rest)}")


def unmatched_time(text: str, layout: str, rest: str, element: str) -> str:
    """Return the error for a text that is no timestamp: its `rest` does not begin with `element` of the layout."""
    where = f"cannot parse {_quoted_time(rest)} as {_quoted_time(element)}"
    return f"parsing time {_quoted_time(text)} as {_quoted_time(layout)}: {where}"


def _quoted_time(text: str) -> str:
    """Quote a string like Go's time package in its errors."""
    parts = []
    for char in text:
        if char in '"\\':
            parts.append("\\" + char)
        elif " " <= char < "\x80":
            parts.append(char)
        else:
            parts.extend(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
    return '"' + "".join(parts) + '"'
