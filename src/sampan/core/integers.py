"""Decimal integers of 64 bits in texts from clients, read in linear time.

`int(text)` accepts more than Go does (spaces, underscores, digits of other scripts), fails in its own words beyond 4300
digits, and takes quadratic time below that. Every text that a client can send is read here instead.
Source: Go's strconv.
"""

from typing import Final

from sampan.core.field import quote

INT64_MIN: Final = -(1 << 63)
INT64_MAX: Final = (1 << 63) - 1
_DIGITS_MAX: Final = 20
"""The digits of the largest integer of 64 bits, with or without a sign."""


def parse_integer(text: str, *, function: str = "ParseInt", low: int = INT64_MIN, high: int = INT64_MAX) -> int:
    """Return the integer. `function` is the one of Go's strconv that the error names.

    **Raises** ValueError with Go's text for other syntax, and for an integer that is not from `low` to `high`.
    """
    digits = text[1:] if text[:1] in ("+", "-") and low < 0 else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"strconv.{function}: parsing {quote(text)}: invalid syntax")
    digits = digits.lstrip("0") or "0"
    if len(digits) <= _DIGITS_MAX:
        number = -int(digits) if text[0] == "-" else int(digits)
        if low <= number <= high:
            return number
    raise ValueError(f"strconv.{function}: parsing {quote(text)}: value out of range")


def integer_or(text: str, default: int, *, low: int = INT64_MIN, high: int = INT64_MAX) -> int:
    """Return the integer, or `default` if the text is not one that is from `low` to `high`."""
    try:
        return parse_integer(text, low=low, high=high)
    except ValueError:
        return default
