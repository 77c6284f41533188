"""Header fields: their names, and the rule for fields that occur more than once."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

Field = tuple[bytes, bytes]
Fields = list[Field]

_FIRST_COUNTS: Final = frozenset({"authorization", "content-type", "location", "retry-after"})
_NAMES_MAX: Final = 1024
_NAME_BYTES_MAX: Final = 64
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_ENDS: Final = re.compile(r"[\r\n\0]")


class Repeated(str):
    """Value of a field that occurs more than once: the values joined, and each of them.

    Names of users and groups can contain commas, so only `values` identifies them.
    """

    __slots__ = ("values",)
    values: tuple[str, ...]

    @classmethod
    def of(cls, values: Sequence[str], separator: str = ", ") -> "Repeated":
        """Join values. A request head has one line for each value."""
        text = cls(separator.join(values))
        text.values = tuple(values)
        return text


def joined(name: str, values: Sequence[str]) -> str:
    """Return the values of a repeated field as one; the first, if the field can have only one.

    Raises `ValueError` for Host.
    """
    if name == "host":
        raise ValueError("too many Host headers")
    if name in _FIRST_COUNTS:
        return values[0]
    return Repeated.of(values, "; " if name == "cookie" else ", ")


def values_of(header: str) -> tuple[str, ...]:
    """Return the values of a field, one for each line of the head."""
    return header.values if isinstance(header, Repeated) else (header,)


class NameCache:
    """Cache of the names of fields in lower case, by the received bytes. It keeps the first 1,024 short names."""

    __slots__ = ("known",)

    def __init__(self) -> None:
        self.known: dict[bytes, str] = {}

    def __getitem__(self, name: bytes) -> str:
        text = self.known.get(name)
        if text is None:
            text = name.decode("latin-1").lower()
            if len(self.known) < _NAMES_MAX and len(name) < _NAME_BYTES_MAX:
                self.known[name] = text
        return text


def headers_of(fields: Collection[Field], names: NameCache, encoding: str) -> dict[str, str]:
    """Return fields by name, joined by the rule of `joined`. Raises `ValueError`."""
    known = names.known
    try:
        headers = {known[name]: value.decode(encoding) for name, value in fields}
        if len(headers) == len(fields):
            return headers
    except (KeyError, UnicodeDecodeError):
        pass  # a new name, or bytes that are no text
    headers = {}
    several: dict[str, list[str]] = {}
    for name, value in fields:
        text = names[name]
        if text in headers:
            several.setdefault(text, [headers[text]]).append(value.decode(encoding, "replace"))
        else:
            headers[text] = value.decode(encoding, "replace")
    for text, values in several.items():
        headers[text] = joined(text, values)
    return headers


def size_of(fields: Iterable[Field]) -> int:
    """Return the size of fields as they are sent, in bytes."""
    return sum(len(name) + len(value) + 4 for name, value in fields)


def fits(name: str, value: str) -> bool:
    """Report whether a head can contain a field: its name is a token, its value does not end the line."""
    return _TOKEN.fullmatch(name) is not None and _ENDS.search(value) is None
