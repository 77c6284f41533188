"""Go's error messages for values that are converted in memory, not decoded from JSON, as in strategic merge patches.

Source: apimachinery pkg/runtime/converter.go (1.36).
"""

from typing import Any, Final

_KINDS: Final[dict[type, str]] = {
    int: "int64",
    float: "float64",
    str: "string",
    bool: "bool",
    list: "slice",
    dict: "map",
}


def conversion_text(expected: type, value: Any, go_type: str) -> str:
    """Return the error for a `value` that cannot become a `go_type`, which requires JSON of the `expected` type."""
    given = _KINDS[type(value)]
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
