"""Amounts of resources while they are compared: whole numbers of nano units, read once and remembered.

The texts are canonical already; what cannot be read counts as zero.
"""

from functools import lru_cache

from sampan.core.object import Object

_SUFFIXES = {
    "n": 1,
    "u": 10**3,
    "m": 10**6,
    "": 10**9,
    "k": 10**12,
    "M": 10**15,
    "G": 10**18,
    "T": 10**21,
    "P": 10**24,
    "E": 10**27,
    "Ki": 2**10 * 10**9,
    "Mi": 2**20 * 10**9,
    "Gi": 2**30 * 10**9,
    "Ti": 2**40 * 10**9,
    "Pi": 2**50 * 10**9,
    "Ei": 2**60 * 10**9,
}
_NUMBER = frozenset("+-.0123456789")
ONE = 10**9
"""One unit in nano units."""
MILLI = 10**6
_MOST = (1 << 63) - 1
_FINE = {"n": "m", "u": "m", "e-6": "e-3", "e-9": "e-3"}
"""How amounts end that are finer than thousandths, and how thousandths end beside them."""
_BINARY_ENDS = frozenset("i0123456789")


@lru_cache(maxsize=8192)
def nano(text: str) -> int:
    """The amount in nano units, rounded away from zero; exact for every canonical text."""
    end = 0
    while end < len(text) and text[end] in _NUMBER:
        end += 1
    number, suffix = text[:end], text[end:]
    scale = _SUFFIXES.get(suffix)
    try:
        if scale is None and suffix[:1] in ("e", "E"):
            exponent = int(suffix[1:])
            return (
                _scaled(number, 10 ** (9 + exponent), 1)
                if exponent >= -9
                else _scaled(number, 1, 10 ** (-9 - exponent))
            )
        return _scaled(number, scale or 0, 1)
    except ValueError:
        return 0


def _scaled(number: str, factor: int, divisor: int) -> int:
    whole, _, fraction = number.partition(".")
    digits = int(f"{whole}{fraction}" or "0")
    divisor *= 10 ** len(fraction)
    value, rest = divmod(abs(digits) * factor, divisor)
    value += 1 if rest else 0
    return -value if digits < 0 else value


def ceil_units(text: str) -> int:
    """The amount in whole units, rounded up (Go's `Value()`)."""
    return -(-nano(text) // ONE)


def is_whole(text: str) -> bool:
    """Whether the amount, rounded up to thousandths, has no fraction.

    A binary amount, and one without suffix, is counted in thousandths of 64 bits: one that overflows them, from 8 PiB
    on, may seem to have one.
    Source: apimachinery pkg/api/resource quantity.go MilliValue, math.go int64MultiplyScale1000 (1.36).
    """
    thousandths = -(-nano(text) // MILLI)
    if thousandths >= 1 << 63 and text[-1:] in _BINARY_ENDS and "e" not in text:
        most = _MOST * 1000 if text[-1:] == "i" else thousandths
        return (min(thousandths, most) + (1 << 63)) % (1 << 64) % 1000 == (1 << 63) % 1000
    return thousandths % 1000 == 0


def round_up_to_milli(amounts: Object) -> None:
    """Round what is finer than a thousandth away from zero, in place.

    Source: pkg/apis/core/v1/defaults.go SetDefaults_ResourceList (1.36).
    """
    for name, text in amounts.items():
        end = _FINE.get(text[-1:]) or _FINE.get(text[-3:])
        if end is not None:
            value = nano(text)
            milli = -(-abs(value) // MILLI)
            sign = "-" if value < 0 else ""
            amounts[name] = f"{sign}{milli // 1000}" if milli % 1000 == 0 else f"{sign}{milli}{end}"
