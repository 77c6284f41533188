"""Parse decimal 64-bit integers from clients in linear time.

`int(text)` accepts more than Go does (spaces, underscores, digits of other scripts). It fails with its own message
above 4300 digits, and takes quadratic time below that. Every integer in a text from a client is parsed here instead.
Source: Go's strconv.
"""

from typing import Final

from sampan.core.go_text import invalid_number, number_out_of_range

INT64_MIN: Final = -(1 << 63)
INT64_MAX: Final = (1 << 63) - 1
_DIGITS_MAX: Final = 20
"""Digits of the largest 64-bit integer, with or without a sign."""


def parse_integer(text: str, *, function: str = "ParseInt", low: int = INT64_MIN, high: int = INT64_MAX) -> int:
    """Return the integer. `function` is the function of Go's strconv that the error message names.

    **Raises** ValueError with Go's message for invalid syntax, or for an integer outside `low` to `high`.
    """
    digits = text[1:] if text[:1] in ("+", "-") and low < 0 else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(invalid_number(function, text))
    digits = digits.lstrip("0") or "0"
    if len(digits) <= _DIGITS_MAX:
        number = -int(digits) if text[0] == "-" else int(digits)
        if low <= number <= high:
            return number
    raise ValueError(number_out_of_range(function, text))


def integer_or(text: str, default: int, *, low: int = INT64_MIN, high: int = INT64_MAX) -> int:
    """Return the integer, or `default` if the text is not an integer from `low` to `high`."""
    try:
        return parse_integer(text, low=low, high=high)
    except ValueError:
        return default
