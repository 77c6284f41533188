"""Quantities: fixed-point numbers with suffixes (`100m`, `1.5Gi`, `2e3`), parsed and formatted as in Kubernetes.

A value is `unscaled * 10**scale`, never a float. Text that Kubernetes considers canonical keeps its form (`+1`,
`1.500`); all other text is rewritten.
Source: apimachinery pkg/api/resource/quantity.go, suffix.go, amount.go (1.36).
"""

import decimal
import enum
import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NUMERIC_ERROR = "unable to parse numeric part of quantity"
_SUFFIX_ERROR = "unable to parse quantity's suffix"

_INT64_MAX: Final = 2**63 - 1
_DIGITS_MAX: Final = 1000
"""Maximum number of digits of an amount.

Text with more digits is rejected, and sums are rounded to this limit: longer integers would cost quadratic time. With
this limit, and because exponents are never expanded, every operation takes constant time.
"""
_BITS_MAX: Final = (10**_DIGITS_MAX).bit_length()

_NANO: Final = -9
_DIGITS = "0123456789"
_SUFFIX_LETTERS = "eEinumkKMGTP"
_SPACES = " \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""Spaces around a quantity that are ignored. Newlines and the like are escaped in JSON, and Go parses the JSON."""
_escaped: ContextVar[frozenset[str]] = ContextVar("texts with escapes", default=frozenset())


class Format(enum.Enum):
    """Format of a quantity; it is kept from the text that was parsed."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


_DECIMAL_EXPONENTS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_EXPONENTS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL_EXPONENTS.items()}
_BINARY_SUFFIXES = {exponent // 10: suffix for suffix, exponent in _BINARY_EXPONENTS.items()}


class Quantity:
    """Amount. Compares and hashes by value (`1000m == 1`), prints canonically. Immutable."""

    __slots__ = ("_text", "format", "scale", "unscaled")

    def __init__(self, unscaled: int, scale: int = 0, format: Format = Format.DECIMAL_SI, *, text: str = "") -> None:
        self.unscaled = unscaled
        self.scale = scale
        self.format = format
        self._text = text

    @staticmethod
    def parse(text: str) -> "Quantity":
        """Parse a quantity. Raises `ValueError` with Kubernetes' message."""
        return _parse(text)

    def __str__(self) -> str:
        if not self._text:
            self._text = _canonical_text(self.unscaled, self.scale, self.format)
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def compare(self, other: "Quantity") -> int:
        """Return -1, 0 or 1 if this amount is less than, equal to or greater than the other."""
        a, b = self.unscaled, other.unscaled
        if self.scale == other.scale or not a or not b or (a < 0) != (b < 0):
            return (a > b) - (a < b)
        difference = self._magnitude() - other._magnitude()
        if difference:
            return 1 if (difference > 0) == (a > 0) else -1
        # Equal magnitudes: the scales differ by no more than the digits do.
        if self.scale > other.scale:
            a *= 10 ** (self.scale - other.scale)
        else:
            b *= 10 ** (other.scale - self.scale)
        return (a > b) - (a < b)

    def __eq__(self, other: object) -> bool:
        return self.compare(other) == 0 if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        return self.compare(other) < 0

    def __le__(self, other: "Quantity") -> bool:
        return self.compare(other) <= 0

    def __gt__(self, other: "Quantity") -> bool:
        return self.compare(other) > 0

    def __ge__(self, other: "Quantity") -> bool:
        return self.compare(other) >= 0

    def __hash__(self) -> int:
        return hash(_without_tens(self.unscaled, self.scale))

    def __bool__(self) -> bool:
        return self.unscaled != 0

    def __add__(self, other: "Quantity") -> "Quantity":
        """Return the sum in the format of this amount, or in the format of the other if this one is zero.

        Exact up to 1000 digits, then rounded away from zero.
        """
        if not self.unscaled:
            return Quantity(other.unscaled, other.scale, other.format)
        difference = self._magnitude() - other._magnitude() if other.unscaled else _DIGITS_MAX + 1
        if abs(difference) > _DIGITS_MAX:
            larger = self if difference > 0 else other
            return Quantity(larger.unscaled, larger.scale, self.format)
        scale = min(self.scale, other.scale)
        unscaled = self.unscaled * 10 ** (self.scale - scale) + other.unscaled * 10 ** (other.scale - scale)
        return Quantity(*_with_fewer_digits(unscaled, scale), self.format)

    def _magnitude(self) -> int:
        """Return the position of the first digit: the amount is below `10**magnitude`."""
        return len(str(abs(self.unscaled))) + self.scale

    def __neg__(self) -> "Quantity":
        return Quantity(-self.unscaled, self.scale, self.format)

    def __sub__(self, other: "Quantity") -> "Quantity":
        """Return the difference in the format of this amount, or in the format of the other if this one is zero."""
        return self + -other

    def value(self) -> int:
        """Return the amount in whole units, rounded away from zero and capped at 64 bits."""
        return self.scaled_value(0)

    def scaled_value(self, scale: int) -> int:
        """Return the amount in units of `10**scale`, rounded away from zero and capped at 64 bits."""
        if not self.unscaled:
            return 0
        if self.scale - scale > 19:
            return _INT64_MAX if self.unscaled > 0 else -_INT64_MAX
        rounded = _round_up(self.unscaled, self.scale, scale)
        return max(-_INT64_MAX, min(_INT64_MAX, rounded))

    def round_up(self, scale: int) -> "Quantity":
        """Return the amount in whole units of `10**scale`, rounded away from zero."""
        if self.scale >= scale:
            return self
        return Quantity(_round_up(self.unscaled, self.scale, scale), scale, self.format)


def parse(text: str) -> Quantity:
    """Parse a quantity. Raises `ValueError` with Kubernetes' message."""
    return _parse(text)


def canonical(value: str | int | float) -> str:
    """Return the canonical form that Kubernetes stores: `"1000m"` → `"1"`, `0.5` → `"500m"`.

    Spaces around the text are ignored. Raises `ValueError` with Kubernetes' message, also for a text of
    `refusing_escaped`.
    """
    if isinstance(value, str):
        if value in _escaped.get():
            raise ValueError(_FORMAT_ERROR)
        return _canonical_cached(value) if len(value) <= 24 else str(parse(value.strip(_SPACES)))
    if isinstance(value, int):
        if value.bit_length() > 3 * _DIGITS_MAX:
            raise ValueError(_NUMERIC_ERROR)
        return str(parse(str(value)))
    return str(parse(_float_text(value)))


@contextmanager
def refusing_escaped(texts: frozenset[str]) -> Iterator[None]:
    """Let `canonical` refuse these texts: the JSON has escapes in them, which Go does not decode in a quantity.

    Source: apimachinery pkg/api/resource/quantity.go UnmarshalJSON (1.36).
    """
    token = _escaped.set(texts)
    try:
        yield
    finally:
        _escaped.reset(token)


@functools.lru_cache(maxsize=4096)
def _canonical_cached(text: str) -> str:
    return str(parse(text.strip(_SPACES)))


def _float_text(value: float) -> str:
    """Format a float like Go's encoding/json: no exponent from 1e-6 up to 1e21."""
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    text = repr(value)
    if abs(value) >= 1e-6 and "e-" in text:
        return f"{decimal.Decimal(text):f}"
    return text.replace("e-0", "e-")


def _power_of_ten(exponent: int) -> int:
    power: int = 10**exponent
    return power


def _without_tens(unscaled: int, scale: int) -> tuple[int, int]:
    if not unscaled:
        return 0, 0
    while unscaled % 10 == 0:
        unscaled //= 10
        scale += 1
    return unscaled, scale


def _with_fewer_digits(unscaled: int, scale: int) -> tuple[int, int]:
    """Round to the digits that an amount may have, away from zero."""
    if unscaled.bit_length() <= _BITS_MAX:
        return unscaled, scale
    excess = len(str(abs(unscaled))) - _DIGITS_MAX
    return _round_up(unscaled, 0, excess), scale + excess


def _round_up(unscaled: int, scale: int, to_scale: int) -> int:
    """Return `unscaled * 10**scale` in units of `10**to_scale`, rounded away from zero."""
    if scale >= to_scale:
        return unscaled * _power_of_ten(scale - to_scale)
    shift = to_scale - scale
    sign = -1 if unscaled < 0 else 1
    if shift > _DIGITS_MAX * 2:
        return sign if unscaled else 0
    return -(-abs(unscaled) // _power_of_ten(shift)) * sign


def _canonical_text(unscaled: int, scale: int, format: Format) -> str:
    if not unscaled:
        return "0"
    if format is Format.BINARY_SI:
        binary = _binary_text(unscaled, scale)
        if binary:
            return binary
        format = Format.DECIMAL_SI
    unscaled, scale = _without_tens(unscaled, scale)
    extra = scale % 3
    number = str(unscaled * 10**extra)
    exponent = scale - extra
    if format is Format.DECIMAL_SI:
        return number + _DECIMAL_SUFFIXES.get(exponent, "")
    return f"{number}e{exponent}" if exponent else number


def _binary_text(unscaled: int, scale: int) -> str:
    """Return the form with Ki, Mi, …; empty when the amount is small or has a fraction, which need decimal suffixes."""
    if scale < 0:
        scale_of_one = 10 ** min(-scale, _DIGITS_MAX * 2)
        if unscaled % scale_of_one:
            return ""
        value = unscaled // scale_of_one
    else:
        value = unscaled * 10 ** min(scale, _DIGITS_MAX)
    if -1024 < value < 1024:
        return ""
    times = 0
    while value % 1024 == 0:
        value //= 1024
        times += 1
    return str(value) + _BINARY_SUFFIXES.get(times, "")


def _span(text: str, start: int, characters: str) -> int:
    """Return the end of the run of these characters that starts at `start`."""
    return len(text) - len(text[start:].lstrip(characters))


def _split(text: str) -> tuple[bool, str, str, str, str]:
    """Return (positive, the number with its sign, whole digits, fraction digits, suffix)."""
    start = 1 if text[0] in "+-" else 0
    positive = text[0] != "-"
    start = _span(text, start, "0")
    if start == len(text):
        return positive, "0", "0", "", ""
    end = _span(text, start, _DIGITS)
    whole, fraction = text[start:end], ""
    if end < len(text):
        whole = whole or "0"
        if text[end] == ".":
            start, end = end + 1, _span(text, end + 1, _DIGITS)
            fraction = text[start:end]
    letters_end = _span(text, end, _SUFFIX_LETTERS)
    sign_end = letters_end + 1 if text[letters_end : letters_end + 1] in ("+", "-") else letters_end
    if _span(text, sign_end, _DIGITS) != len(text):
        raise ValueError(_FORMAT_ERROR)
    return positive, text[:end], whole, fraction, text[end:]


def _interpret(suffix: str) -> tuple[int, Format]:
    """Return the exponent (of ten, or of two) and the format of a suffix."""
    exponent = _DECIMAL_EXPONENTS.get(suffix)
    if exponent is not None:
        return exponent, Format.DECIMAL_SI
    exponent = _BINARY_EXPONENTS.get(suffix)
    if exponent is not None:
        return exponent, Format.BINARY_SI
    digits = suffix[1:].lstrip("+-")
    if suffix[0] not in "eE" or not digits.isdecimal() or len(digits) > 19 or len(suffix) - len(digits) > 2:
        raise ValueError(_SUFFIX_ERROR)
    parsed = int(suffix[1:])
    if not -_INT64_MAX - 1 <= parsed <= _INT64_MAX:
        raise ValueError(_SUFFIX_ERROR)
    # Go converts the exponent from 64 to 32 bits, which wraps around.
    return (parsed + 2**31) % 2**32 - 2**31, Format.DECIMAL_EXPONENT


def _precision(whole: str, fraction: str, exponent: int, format: Format) -> int:
    """Return the decimal digits left until 64 bits overflow; below zero the exact parser is required."""
    if format is not Format.BINARY_SI:
        return 18 - len(whole) - len(fraction)
    return -1 if fraction else 14 - len(whole) - exponent * 3 // 10


def _parse(text: str) -> Quantity:
    if not text:
        raise ValueError(_FORMAT_ERROR)
    if text == "0":
        return Quantity(0, text="0")
    positive, number, whole, fraction, suffix = _split(text)
    exponent, format = _interpret(suffix)
    if len(number) > _DIGITS_MAX:
        raise ValueError(_NUMERIC_ERROR)
    binary = format is Format.BINARY_SI
    scale = (0 if binary else exponent) - len(fraction)
    if scale < _NANO or _precision(whole, fraction, exponent, format) < 0:
        return _parse_exactly(number, exponent, format)
    digits = whole + fraction
    value = int(digits)
    unscaled = value << exponent if binary else value
    if unscaled > _INT64_MAX:
        return _parse_exactly(number, exponent, format)
    if binary:
        keep = value & 7 != 0
    else:
        keep = scale % 3 == 0 and digits[-3:] != "000" and digits[0] != "0"
    return Quantity(unscaled if positive else -unscaled, scale, format, text=text if keep else "")


def _parse_exactly(number: str, exponent: int, format: Format) -> Quantity:
    """Parse a long number: round up to nano units, and cap binary amounts at 64 bits."""
    whole, _, fraction = number.lstrip("+-").partition(".")
    if not whole + fraction:
        raise ValueError(_NUMERIC_ERROR)
    unscaled, scale = int(whole + fraction), -len(fraction)
    if format is Format.BINARY_SI:
        unscaled <<= exponent
    else:
        scale += exponent
    if scale < _NANO:
        unscaled, scale = _round_up(unscaled, scale, _NANO), _NANO
    if format is Format.BINARY_SI:
        amount = Quantity(unscaled, scale)
        if amount > _MAX_ALLOWED:
            unscaled, scale = _INT64_MAX, 0
        elif amount < _ONE and unscaled:
            format = Format.DECIMAL_SI
    return Quantity(-unscaled if number[0] == "-" else unscaled, scale, format)


_ONE: Final = Quantity(1)
_MAX_ALLOWED: Final = Quantity(_INT64_MAX)
