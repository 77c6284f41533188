"""The table of messages: field numbers, JSON names, types and flags, read from the packaged file on first use."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

DATA: Final = Path(__file__).parent / "messages.json"
"""Written by `scripts/protobuf_table.py`."""

META: Final = "meta.v1"
"""The package whose kinds (DeleteOptions, Status, WatchEvent) belong to every group and version."""


class _File(msgspec.Struct):
    groups: dict[str, str]
    messages: dict[str, list[tuple[int, str, str, str]]]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message.

    `type` is the type of one element: `string`, `bytes`, `bool`, `int32`, `int64`, `double` or a message's name.
    `shape` is empty, `list` or `map` (keys are always strings). `pointer` fields are written when they are present,
    all others always; `omit_empty`, `omit_zero` and `inline` say what the JSON form looks like.
    """

    number: int
    name: str
    type: str
    shape: str
    pointer: bool
    omit_empty: bool
    omit_zero: bool
    inline: bool


class Table:
    """All messages by their names (`core.v1.Pod`), and the names of kinds."""

    __slots__ = ("_fields", "_groups", "_messages")

    def __init__(self, data: bytes) -> None:
        file = msgspec.json.decode(data, type=_File)
        self._groups = file.groups
        self._messages = file.messages
        self._fields: dict[str, tuple[Field, ...]] = {}

    def __contains__(self, message: str) -> bool:
        return message in self._messages

    def names(self) -> list[str]:
        """The names of all messages."""
        return list(self._messages)

    def fields(self, message: str) -> tuple[Field, ...]:
        """The fields of a message by rising number. Raises `KeyError`."""
        known = self._fields.get(message)
        if known is None:
            known = self._fields[message] = tuple(_field(*row) for row in self._messages[message])
        return known

    def message_of(self, api_version: str, kind: str) -> str | None:
        """The message of a kind; None where the kind has no protobuf form."""
        package = self._groups.get(api_version)
        if package is not None and f"{package}.{kind}" in self._messages:
            return f"{package}.{kind}"
        name = f"{META}.{kind}"
        return name if name in self._messages else None

    def api_versions(self) -> dict[str, str]:
        """The package of each group and version: `apps/v1` is `apps.v1`."""
        return self._groups


@functools.cache
def table() -> Table:
    """The packaged table."""
    return Table(DATA.read_bytes())


def _field(number: int, name: str, type_: str, flags: str) -> Field:
    shape = ""
    if type_.startswith("[]"):
        shape, type_ = "list", type_[2:]
    elif type_.startswith("map["):
        shape, type_ = "map", type_.partition("]")[2]
    return Field(
        number=number,
        name=name,
        type=type_,
        shape=shape,
        pointer="p" in flags,
        omit_empty="o" in flags,
        omit_zero="z" in flags,
        inline="i" in flags,
    )
