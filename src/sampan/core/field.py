"""Field paths and field errors: the place and the kind of a validation error.

The messages are protocol: clients show and match them.
Source: apimachinery pkg/util/validation/field (1.36).
"""

import decimal
import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import msgspec
import orjson

from sampan.core.deep_json import dumps

FAULTS_MAX = 1000
"""Limit of errors at which the validation of an object stops."""
FAULTS_CHARACTERS_MAX = 2 << 20
"""Limit of the characters of all errors together, for example when each error lists the values of a large enum."""
VALUE_CHARACTERS_MAX = 10_000
"""Limit of the characters of a bad value in messages; a longer value is truncated."""
OMIT_VALUE = object()
"""Marker for `bad_value`: do not include the value in the message (secrets, large values)."""


class Path:
    """Path of a field: `spec.containers[0].ports[http]`. Immutable, cheap to extend, formatted only when shown."""

    __slots__ = ("_parent", "_text")

    def __init__(self, *names: str, parent: "Path | None" = None) -> None:
        self._text = ".".join(names)
        self._parent = parent

    def child(self, *names: str) -> "Path":
        """Return the path of a field below this one."""
        path = Path.__new__(Path)
        text = names[0] if len(names) == 1 else ".".join(names)
        path._text = f".{text}" if self._text or self._parent is not None else text
        path._parent = self
        return path

    def index(self, index: int) -> "Path":
        """Return the path of a list item."""
        path = Path.__new__(Path)
        path._text = f"[{index}]"
        path._parent = self
        return path

    def key(self, key: str) -> "Path":
        """Return the path of a map entry, or of a list item identified by its key."""
        path = Path.__new__(Path)
        path._text = f"[{key}]"
        path._parent = self
        return path

    def __str__(self) -> str:
        parts: list[str] = []
        path: Path | None = self
        while path is not None:
            parts.append(path._text)
            path = path._parent
        return "".join(reversed(parts)) or "<nil>"

    def __repr__(self) -> str:
        return f"Path({str(self)!r})"


class ErrorType(enum.StrEnum):
    """Reasons of the causes in `Status.details.causes`."""

    NOT_FOUND = "FieldValueNotFound"
    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    TOO_FEW = "FieldValueTooFew"
    TOO_SHORT = "FieldValueTooShort"
    INTERNAL = "InternalError"
    TYPE_INVALID = "FieldValueTypeInvalid"


_WORDS = {
    ErrorType.NOT_FOUND: "Not found",
    ErrorType.REQUIRED: "Required value",
    ErrorType.DUPLICATE: "Duplicate value",
    ErrorType.INVALID: "Invalid value",
    ErrorType.NOT_SUPPORTED: "Unsupported value",
    ErrorType.FORBIDDEN: "Forbidden",
    ErrorType.TOO_LONG: "Too long",
    ErrorType.TOO_MANY: "Too many",
    ErrorType.TOO_FEW: "Too few",
    ErrorType.TOO_SHORT: "Too short",
    ErrorType.INTERNAL: "Internal error",
    ErrorType.TYPE_INVALID: "Invalid value",
}
_WITHOUT_VALUE = {
    ErrorType.REQUIRED,
    ErrorType.FORBIDDEN,
    ErrorType.TOO_LONG,
    ErrorType.TOO_SHORT,
    ErrorType.INTERNAL,
}


_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def quote(text: str) -> str:
    """Quote a string like Go's `%q`."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(char: str) -> str:
    escaped = _ESCAPES.get(char)
    if escaped is not None:
        return escaped
    if char.isprintable():
        return char
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def go_json(value: object, *, sort: bool = False) -> str:
    """Encode a value as compact JSON with the escapes of Go's `json.Marshal`. Raises `orjson.JSONEncodeError`."""
    text = dumps(value, sort=sort).decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@dataclass(frozen=True, slots=True)
class Shown:
    """Bad value that has a special text in messages instead of its JSON."""

    text: str


def _cut(text: str) -> str:
    return text if len(text) <= VALUE_CHARACTERS_MAX else f"{text[:VALUE_CHARACTERS_MAX]}..."


def _show(value: object) -> str:
    if isinstance(value, Shown):
        return _cut(value.text)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(_cut(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return show_float(value)
    try:
        return _cut(go_json(value, sort=True))
    except orjson.JSONEncodeError:
        return repr(value)


def show_float(value: float) -> str:
    """Format a float like Go's `%v`: the shortest digits, with an exponent below 1e-4 and from 1e6 on."""
    mantissa, _, exponent = f"{decimal.Decimal(repr(value)):e}".partition("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    power = int(exponent or "0")
    if -4 <= power < 6:
        text = f"{decimal.Decimal(repr(value)):f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{mantissa}e{'-' if power < 0 else '+'}{abs(power):02}"


@dataclass(frozen=True, slots=True)
class FieldError:
    """Error in one field. `str()` returns `spec.replicas: Invalid value: -1: must be …`."""

    type: ErrorType
    field: str
    bad_value: object = OMIT_VALUE
    detail: str = ""

    def __post_init__(self) -> None:
        budget = _budget.get()
        if budget is not None:
            budget.add(self)

    def body(self) -> str:
        """Return the message without the field's path: the `message` of a status cause."""
        text = _WORDS[self.type]
        if self.type not in _WITHOUT_VALUE and self.bad_value is not OMIT_VALUE:
            text = f"{text}: {_show(self.bad_value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body()}"


class TooManyFaults(Exception):
    """Stops the validation of an object that has `FAULTS_MAX` errors. `faults` are the errors found so far."""

    def __init__(self, faults: list[FieldError]) -> None:
        super().__init__("too many faults")
        self.faults = faults


class _Budget(msgspec.Struct, eq=False):
    """Errors since validation started. Each error is counted when it is created, so no validator can miss the limit."""

    faults: "list[FieldError]" = []
    characters: int = 0

    def add(self, fault: FieldError) -> None:
        """Count an error. Raises `TooManyFaults` at the limit."""
        self.faults.append(fault)
        self.characters += len(fault.field) + len(fault.detail)
        if len(self.faults) >= FAULTS_MAX or self.characters > FAULTS_CHARACTERS_MAX:
            raise TooManyFaults(self.faults)


_budget: ContextVar[_Budget | None] = ContextVar("budget of faults", default=None)


def bounded(check: Callable[[], Sequence[FieldError]]) -> Sequence[FieldError]:
    """Return the errors that `check` finds; stop it at `FAULTS_MAX` errors."""
    token = _budget.set(_Budget())
    try:
        return check()
    except TooManyFaults as error:
        return error.faults
    finally:
        _budget.reset(token)


@contextmanager
def uncounted() -> Iterator[None]:
    """Exclude errors of this block from the limit: the caller may drop them. The block must limit its own work."""
    token = _budget.set(None)
    try:
        yield
    finally:
        _budget.reset(token)


def begin_budget() -> None:
    """Limit the errors of everything that the current task validates from now on.

    Raises `TooManyFaults` at the limit.
    """
    _budget.set(_Budget())


def not_found(path: Path, value: object) -> FieldError:
    """Return an error for a reference to something that does not exist."""
    return FieldError(ErrorType.NOT_FOUND, str(path), value)


def required(path: Path, detail: str = "") -> FieldError:
    """Return an error for a missing value."""
    return FieldError(ErrorType.REQUIRED, str(path), "", detail)


def duplicate(path: Path, value: object) -> FieldError:
    """Return an error for a value that must be unique but occurs twice."""
    return FieldError(ErrorType.DUPLICATE, str(path), value)


def invalid(path: Path, value: object, detail: str) -> FieldError:
    """Return an error for a value that breaks the rule in `detail`."""
    return FieldError(ErrorType.INVALID, str(path), value, detail)


def not_supported(path: Path, value: object, supported: Iterable[str]) -> FieldError:
    """Return an error for a value that is not in a fixed set.

    Lists and tuples are shown in their order, sets sorted.
    """
    ordered = supported if isinstance(supported, list | tuple) else sorted(supported)
    known = ", ".join(map(quote, ordered))
    return FieldError(ErrorType.NOT_SUPPORTED, str(path), value, f"supported values: {known}" if known else "")


def forbidden(path: Path, detail: str) -> FieldError:
    """Return an error for a value that may not be set here."""
    return FieldError(ErrorType.FORBIDDEN, str(path), "", detail)


def too_long(path: Path, value: object, length_max: int) -> FieldError:
    """Return an error for a string longer than `length_max` bytes."""
    unit = "byte" if length_max == 1 else "bytes"
    return FieldError(ErrorType.TOO_LONG, str(path), value, f"may not be more than {length_max} {unit}")


def too_many(path: Path, count: int, count_max: int) -> FieldError:
    """Return an error for a list with more than `count_max` items."""
    items = "item" if count_max == 1 else "items"
    return FieldError(ErrorType.TOO_MANY, str(path), count, f"must have at most {count_max} {items}")


def internal(path: Path, detail: str) -> FieldError:
    """Return an error for a value that the server could not check."""
    return FieldError(ErrorType.INTERNAL, str(path), "", detail)


def aggregate(errors: Iterable[FieldError]) -> str:
    """Format several errors as one message: a single text, or `[a, b]` without duplicates."""
    texts = list(dict.fromkeys(map(str, errors)))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
