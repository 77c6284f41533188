"""Amounts of resources in built-in kinds: comparisons, whole amounts and rounding.

The texts come from the decoder, which has already parsed them.
"""

from functools import lru_cache
from typing import Final

from sampan.core.numbers.quantity import Format, Quantity
from sampan.core.object import Object

ZERO: Final = Quantity(0)
ONE: Final = Quantity(1)
_MILLI: Final = -3
_INT64_MAX: Final = (1 << 63) - 1
_TEXT_SIZE_MAX: Final = 64
"""Maximum length of cached texts, in characters. Without this limit, clients could fill the cache with large texts."""


def amount(text: str) -> Quantity:
    """Return the amount, or zero for a text that is not a quantity."""
    return _kept(text) if len(text) <= _TEXT_SIZE_MAX else _parsed(text)


def _parsed(text: str) -> Quantity:
    try:
        return Quantity.parse(text)
    except ValueError:
        return ZERO


_kept = lru_cache(maxsize=8192)(_parsed)


def is_whole(text: str) -> bool:
    """Return True if the amount, rounded up to thousandths, has no fraction.

    Kubernetes counts binary amounts, and those without suffix, in thousandths of 64 bits. From 8 PiB on they overflow,
    and then may seem to have a fraction.

    Source: apimachinery pkg/api/resource quantity.go MilliValue, math.go int64MultiplyScale1000 (1.36).
    """
    quantity = amount(text)
    if quantity.format is Format.DECIMAL_EXPONENT and quantity.scale >= 0:
        return True
    # The scale is at most that of the suffix E, so the letter is not an exponent.
    rounded = quantity.round_up(_MILLI)
    thousandths: int = rounded.unscaled * 10 ** (rounded.scale - _MILLI)
    binary = quantity.format is Format.BINARY_SI
    if thousandths > _INT64_MAX and (binary or (text[-1:].isdigit() and quantity.format is Format.DECIMAL_SI)):
        most = _INT64_MAX * 1000 if binary else thousandths
        return (min(thousandths, most) + (1 << 63)) % (1 << 64) % 1000 == (1 << 63) % 1000
    return thousandths % 1000 == 0


def round_up_to_milli(amounts: Object) -> None:
    """Round amounts that are finer than a thousandth away from zero, in place.

    Source: pkg/apis/core/v1/defaults.go SetDefaults_ResourceList (1.36).
    """
    for name, text in amounts.items():
        quantity = amount(text)
        if quantity.scale < _MILLI:
            amounts[name] = str(quantity.round_up(_MILLI))
