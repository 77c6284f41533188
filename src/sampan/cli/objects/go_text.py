"""`go_text`: values as Go's fmt prints them. kubectl uses this form in templates and custom columns."""

from typing import Any


def go_text(value: Any) -> str:
    """Return the text of a decoded JSON value like `fmt.Sprint`: `map[a:1 b:[x y]]`, `<nil>`, `1e+06`."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    return str(value)


def _float_text(value: float) -> str:
    """Return the shortest digits; with an exponent below 1e-4 and from 1e21 on."""
    text = repr(value)
    if "e" not in text:
        return text.removesuffix(".0")
    digits, exponent = text.split("e")
    if 0 <= int(exponent) < 21:
        return str(int(value))
    sign = "-" if exponent.startswith("-") else "+"
    return f"{digits.removesuffix('.0')}e{sign}{int(exponent.lstrip('+-')):02}"
