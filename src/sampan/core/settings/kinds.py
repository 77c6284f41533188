"""Kinds of values: how a setting is written on the command line and in a file."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sampan.core.suggestions import did_you_mean
from sampan.core.time import NANOSECONDS_PER_SECOND, format_duration, parse_duration

TRUE: Final = frozenset({"1", "true", "t", "yes", "y", "on"})
FALSE: Final = frozenset({"0", "false", "f", "no", "n", "off"})


@dataclass(frozen=True, slots=True)
class ValueKind:
    """Conversion between the values of a setting and texts. `read(write(value))` returns an equal value."""

    metavar: str
    """Placeholder of the value in --help; names the unit, if there is one."""
    read: Callable[[str], Any]
    """Parse a text and return its value. Raises `ValueError`."""
    write: Callable[[Any], str] = str
    """Format a value as a text."""
    relocate: Callable[[Any, Path], Any] = lambda value, directory: value
    """Return the value with relative paths resolved against a directory."""
    choices: tuple[str, ...] = ()
    """All values, if they are few. Shells complete them."""
    completion: str = ""
    """Type of completion in the shell: file, dir."""
    content: str = ""
    """Content of the file, if it is checked before the start: certificates, key, registries."""
    flag_value: str = ""
    """Text that is used if the option has no value. Empty: the option requires a value."""


@dataclass(frozen=True, slots=True)
class ListOf(ValueKind):
    """List of values. On the command line, one option contains all items, or the option is repeated."""

    item: ValueKind | None = None
    separator: str = ","
    """Separator of items in one text. Empty: each text is one item."""
    repeat: bool = False
    """True if the option can be repeated to add items. If False, the last occurrence is used."""
    check: Callable[[tuple[Any, ...]], None] = lambda items: None
    """Check of all items together. Raises `ValueError` if they are inconsistent."""

    def split(self, text: str) -> list[str]:
        """Split a text into its items. Spaces around items, and empty items, are dropped."""
        if not self.separator:
            return [text]
        return [part.strip() for part in text.split(self.separator) if part.strip()]

    def read_items(self, texts: Sequence[str]) -> tuple[Any, ...]:
        """Parse the texts of several items and return the list's value. Raises `ValueError`."""
        assert self.item is not None
        items = tuple(map(self.item.read, texts))
        self.check(items)
        return items

    def write_items(self, items: tuple[Any, ...]) -> list[str]:
        """Return one text for each item."""
        assert self.item is not None
        return list(map(self.item.write, items))


def list_of(
    item: ValueKind,
    *,
    separator: str = ",",
    repeat: bool = False,
    metavar: str = "",
    check: Callable[[tuple[Any, ...]], None] = lambda items: None,
) -> ListOf:
    """Return the kind of a list whose items are of the kind `item`."""

    def relocate(items: tuple[Any, ...], directory: Path) -> tuple[Any, ...]:
        return tuple(item.relocate(value, directory) for value in items)

    kind = ListOf(
        metavar or item.metavar,
        str,
        relocate=relocate,
        choices=() if separator else item.choices,
        completion="" if separator else item.completion,
        item=item,
        separator=separator,
        repeat=repeat,
        check=check,
    )
    return replace(
        kind,
        read=lambda text: kind.read_items(kind.split(text)),
        write=lambda items: (separator or " ").join(kind.write_items(items)),
    )


def one_of(*names: str, empty: str = "") -> ValueKind:
    """Return the kind of a value that is one of the given names. An empty text is the name `empty`, if there is one."""

    def read(text: str) -> str:
        text = text or empty
        if text not in names:
            hint = did_you_mean(text, names) or "."
            raise ValueError(f"{text!r} is not one of {', '.join(map(repr, names))}{hint}")
        return text

    return ValueKind(f"[{'|'.join(names)}]", read, choices=names)


def integer(
    minimum: int | None = None, maximum: int | None = None, metavar: str = "INTEGER", factor: int = 1
) -> ValueKind:
    """Return the kind of an integer in a range. The value is the number in the text, multiplied by `factor`."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise ValueError(f"{text!r} is not a valid integer.") from None
        if (minimum is not None and value < minimum) or (maximum is not None and value > maximum):
            raise ValueError(f"{value} is not in the range {_range(minimum, maximum)}.")
        return value * factor

    return ValueKind(metavar, read, lambda value: str(value // factor))


def _range(minimum: int | None, maximum: int | None) -> str:
    lower = "" if minimum is None else f"{minimum}<="
    return f"x>={minimum}" if maximum is None else f"{lower}x<={maximum}"


def _read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a valid float.") from None


def _read_boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in TRUE | FALSE:
        raise ValueError(f"{text!r} is not a valid boolean: true or false.")
    return word in TRUE


def _read_seconds(text: str) -> float:
    return parse_duration(text) / NANOSECONDS_PER_SECOND


def _read_positive_seconds(text: str) -> float:
    found = _read_seconds(text)
    if found <= 0:
        raise ValueError(f"{text} is not more than zero")
    return found


def _read_plain_seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = _read_seconds(text)
    if not 0 <= value < float("inf"):
        raise ValueError(f"{text} is not in the range x>=0.")
    return value


def _write_seconds(value: float) -> str:
    return format_duration(round(value * NANOSECONDS_PER_SECOND))


def place(completion: str, *, exists: bool = False) -> ValueKind:
    """Return the kind of a path: of a file (`file`) or a directory (`dir`)."""
    noun = "File" if completion == "file" else "Directory"

    def read(text: str) -> Path:
        path = Path(text)
        if not os.path.exists(path):
            if exists:
                raise ValueError(f"{noun} {text!r} does not exist.")
        elif (completion == "file") == path.is_dir():
            raise ValueError(f"{noun} {text!r} is a {'directory' if completion == 'file' else 'file'}.")
        return path

    metavar = "FILE" if completion == "file" else "DIRECTORY"
    return ValueKind(metavar, read, relocate=_relocate, completion=completion)


def _relocate(path: Path | None, directory: Path) -> Path | None:
    return path if path is None else directory / path


def _relocate_log(text: str, directory: Path) -> str:
    return text if text in ("", "-") else str(directory / text)


def _read_host_and_port(text: str) -> str:
    host, _, port = text.rpartition(":")
    if text and not (host and port.isdecimal() and int(port) < 65536):
        raise ValueError(f"{text!r} is not host:port")
    return text


TEXT: Final = ValueKind("TEXT", str)
NUMBER: Final = ValueKind("NUMBER", _read_number)
BOOLEAN: Final = ValueKind("[true|false]", _read_boolean, lambda value: "true" if value else "false", flag_value="true")
VERBOSITY: Final = replace(integer(0, 10, metavar="N"), flag_value="1")
DURATION: Final = ValueKind("DURATION", _read_seconds, _write_seconds)
"""Seconds, written as in Go: 1h30m, 500ms."""
POSITIVE_DURATION: Final = ValueKind("DURATION", _read_positive_seconds, _write_seconds)
SECONDS: Final = ValueKind("DURATION", _read_plain_seconds, _write_seconds)
"""Seconds that are not negative, written as a number or as in Go."""
FILE: Final = place("file")
CERTIFICATES_FILE: Final = replace(FILE, content="certificates")
KEY_FILE: Final = replace(FILE, content="key")
REGISTRIES_FILE: Final = replace(FILE, content="registries")
EXISTING_FILE: Final = place("file", exists=True)
DIRECTORY: Final = place("dir")
LOG_FILE: Final = ValueKind("FILE", str, relocate=_relocate_log, completion="file")
"""Path of a file as a text; `-` means the standard output."""
HOST_AND_PORT: Final = ValueKind("HOST:PORT", _read_host_and_port)
NAMES: Final = list_of(TEXT, metavar="NAMES")
"""Names separated by commas."""
TEXTS: Final = list_of(TEXT, separator="", repeat=True)


def kind_of(name: str, default: object) -> ValueKind:
    """Return the usual kind for the default of a field; a field whose name ends in `_s` has seconds."""
    if isinstance(default, bool):
        return BOOLEAN
    if isinstance(default, int):
        return integer()
    if isinstance(default, float):
        return DURATION if name.endswith("_s") else NUMBER
    if isinstance(default, str):
        return TEXT
    raise TypeError(f"the field {name} needs a kind: its default {default!r} does not show one")
