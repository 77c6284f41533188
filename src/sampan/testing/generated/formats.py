"""Values of the string formats of a schema, and of the scalars of built-in types."""

import base64
from collections.abc import Callable
from typing import Any, Final

from sampan.testing.generated.choices import Choices, pick

_UNITS: Final = ("", "m", "Mi", "Gi", "k")


def quantity(choices: Choices) -> str:
    """Return an amount such as `100m` or `2Gi`."""
    return f"{choices.integer(1, 64)}{pick(choices, _UNITS)}"


def date(choices: Choices) -> str:
    """Return a date of this century."""
    return f"20{choices.integer(0, 99):02}-{choices.integer(1, 12):02}-{choices.integer(1, 28):02}"


def date_time(choices: Choices) -> str:
    """Return an instant in UTC, as Kubernetes writes it."""
    hour, minute, second = (choices.integer(0, 23), choices.integer(0, 59), choices.integer(0, 59))
    return f"{date(choices)}T{hour:02}:{minute:02}:{second:02}Z"


def duration(choices: Choices) -> str:
    """Return a duration such as `30s` or `2h`."""
    return f"{choices.integer(1, 59)}{pick(choices, ('s', 'm', 'h'))}"


def label(choices: Choices) -> str:
    """Return a name that is valid for objects, labels and ports."""
    return f"{pick(choices, ('a', 'web', 'db', 'cache', 'main'))}{choices.integer(0, 99) or ''}"


def ipv4(choices: Choices) -> str:
    """Return an address that is in every network that `cidr` returns: rules often relate the two."""
    return f"10.0.{choices.integer(0, 255)}.{choices.integer(1, 254)}"


def cidr(choices: Choices) -> str:
    """Return a private IPv4 network."""
    return f"10.0.0.0/{choices.integer(8, 16)}"


def _hex(choices: Choices, digits: int) -> str:
    return f"{choices.integer(0, 16**digits - 1):0{digits}x}"


def _uuid(version: str) -> Callable[[Choices], str]:
    def make(choices: Choices) -> str:
        return "-".join(
            (_hex(choices, 8), _hex(choices, 4), version + _hex(choices, 3), "8" + _hex(choices, 3), _hex(choices, 12))
        )

    return make


def _base64(choices: Choices) -> str:
    # The validator does not accept the empty text.
    return base64.b64encode(choices.text(1, 6).encode()).decode()


TEXTS: Final[dict[str, Callable[[Choices], str]]] = {
    "bsonobjectid": lambda choices: _hex(choices, 24),
    "uri": lambda choices: f"https://{label(choices)}.example.com/{label(choices)}",
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
    "ssn": lambda choices: f"{choices.integer(100, 999)}-{choices.integer(10, 99)}-{choices.integer(1000, 9999)}",
    "hexcolor": lambda choices: f"#{_hex(choices, 6)}",
    "rgbcolor": lambda choices: f"rgb({choices.integer(0, 255)},{choices.integer(0, 255)},{choices.integer(0, 255)})",
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
