"""Values of the string formats of a schema, and of the scalars of built-in types."""

import base64
from collections.abc import Callable
from typing import Any, Final

from sampan.testing.generated.choices import Choices, parts, pick

_UNITS: Final = ("", "m", "Mi", "Gi", "k")


_DIGITS: Final = 15
"""Hexadecimal digits of one choice."""
_WORDS: Final = ("a", "web", "db", "cache", "main")
_LABELS: Final = 100 * len(_WORDS)


def quantity(choices: Choices) -> str:
    """Return an amount such as `100m` or `2Gi`."""
    unit, amount = parts(choices.spread(64 * len(_UNITS)), len(_UNITS), 64)
    return f"{amount + 1}{_UNITS[unit]}"


def date(choices: Choices) -> str:
    """Return a date of this century."""
    year, month, day = parts(choices.spread(100 * 12 * 28), 100, 12, 28)
    return f"20{year:02}-{month + 1:02}-{day + 1:02}"


def date_time(choices: Choices) -> str:
    """Return an instant in UTC, as Kubernetes writes it."""
    counts = (100, 12, 28, 24, 60, 60)
    year, month, day, hour, minute, second = parts(choices.spread(100 * 12 * 28 * 86_400), *counts)
    return f"20{year:02}-{month + 1:02}-{day + 1:02}T{hour:02}:{minute:02}:{second:02}Z"


def duration(choices: Choices) -> str:
    """Return a duration such as `30s` or `2h`."""
    unit, amount = parts(choices.spread(3 * 59), 3, 59)
    return f"{amount + 1}{'smh'[unit]}"


def label(choices: Choices) -> str:
    """Return a name that is valid for objects, labels and ports."""
    return _label(choices.spread(_LABELS))


def labels(choices: Choices) -> tuple[str, str]:
    """Return two names."""
    first, second = parts(choices.spread(_LABELS**2), _LABELS, _LABELS)
    return _label(first), _label(second)


def _label(number: int) -> str:
    word, suffix = parts(number, len(_WORDS), 100)
    return f"{_WORDS[word]}{suffix or ''}"


def ipv4(choices: Choices) -> str:
    """Return an address that is in every network that `cidr` returns: rules often relate the two."""
    third, last = parts(choices.spread(256 * 254), 256, 254)
    return f"10.0.{third}.{last + 1}"


def cidr(choices: Choices) -> str:
    """Return a private IPv4 network."""
    return f"10.0.0.0/{choices.integer(8, 16)}"


def _uri(choices: Choices) -> str:
    host, path = labels(choices)
    return f"https://{host}.example.com/{path}"


def _ssn(choices: Choices) -> str:
    area, group, serial = parts(choices.spread(900 * 90 * 9000), 900, 90, 9000)
    return f"{100 + area}-{10 + group}-{1000 + serial}"


def _colour(choices: Choices) -> str:
    red, green, blue = parts(choices.spread(256**3), 256, 256, 256)
    return f"rgb({red},{green},{blue})"


def _hex(choices: Choices, digits: int) -> str:
    sizes = (min(_DIGITS, digits - first) for first in range(0, digits, _DIGITS))
    return "".join(f"{choices.spread(16**count):0{count}x}" for count in sizes)


def _uuid(version: str) -> Callable[[Choices], str]:
    def make(choices: Choices) -> str:
        digits = _hex(choices, 30)
        return f"{digits[:8]}-{digits[8:12]}-{version}{digits[12:15]}-8{digits[15:18]}-{digits[18:]}"

    return make


def _base64(choices: Choices) -> str:
    # The validator does not accept the empty text.
    return base64.b64encode(choices.text(1, 6).encode()).decode()


TEXTS: Final[dict[str, Callable[[Choices], str]]] = {
    "bsonobjectid": lambda choices: _hex(choices, 24),
    "uri": _uri,
    "email": lambda choices: f"{label(choices)}@example.com",
    "hostname": lambda choices: f"{label(choices)}.example.com",
    "ipv4": ipv4,
    "ipv6": lambda choices: f"fd00::{choices.integer(1, 0xFFFF):x}",
    "cidr": cidr,
    "mac": lambda choices: f"02:00:00:00:00:{_hex(choices, 2)}",
    "uuid": _uuid("4"),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4"),
    "uuid5": _uuid("5"),
    "isbn": lambda choices: pick(choices, ("0306406152", "9780306406157")),
    "isbn10": lambda choices: pick(choices, ("0306406152", "0136091814")),
    "isbn13": lambda choices: pick(choices, ("9780306406157", "9781617290893")),
    "creditcard": lambda choices: pick(choices, ("4111111111111111", "5555555555554444")),
    "ssn": _ssn,
    "hexcolor": lambda choices: f"#{_hex(choices, 6)}",
    "rgbcolor": _colour,
    "byte": _base64,
    "password": lambda choices: choices.text(1, 12),
    "date": date,
    "duration": duration,
    "datetime": date_time,
    "k8sshortname": label,
    "k8slongname": lambda choices: f"{label(choices)}.example.com",
    "quantity": quantity,
}
"""Functions that make values, by the name of the format without dashes."""

SCALARS: Final[dict[str, Callable[[Choices], Any]]] = {
    "quantity": quantity,
    "time": date_time,
    "micro-time": lambda choices: date_time(choices).replace("Z", ".000000Z"),
    "duration": duration,
    "bytes": _base64,
    "int-or-string": lambda choices: choices.integer(1, 100),
    "raw": lambda choices: {},
    "fields-v1": lambda choices: {},
    "json-schema-or": lambda choices: True,
}
"""Functions that make values, by the name of the built-in scalar."""

WRONG: Final = ("!", "not of this format", "")
"""Texts. In each format that restricts anything, at least one of them is invalid."""
