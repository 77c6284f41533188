"""`ByText`: cache of results that depend only on a JSON value. The JSON text of the value is the key."""

from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import orjson

T = TypeVar("T")

_KNOWN_MAX: Final = 256
_TEXT_BYTES_MAX: Final = 8 << 10


class ByText(Generic[T]):
    """Results by JSON text. Large texts are not cached. May be used from any thread."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[bytes, T] = {}

    def of(self, value: Any, compute: Callable[[Any], T]) -> T:
        """Return `compute(value)`, or the cached result for an equal text."""
        text = self.text(value)
        known = self.get(text)
        if known is None:
            known = compute(value)
            self.put(text, known)
        return known

    def text(self, value: Any) -> bytes:
        """Return the text of a value, or b"" if the value is not suitable for the cache."""
        try:
            text = orjson.dumps(value)
        except orjson.JSONEncodeError:
            return b""
        return text if len(text) <= _TEXT_BYTES_MAX else b""

    def get(self, text: bytes) -> T | None:
        """Return the cached result for a text, or None."""
        return self._known.get(text)

    def put(self, text: bytes, result: T) -> None:
        """Cache a result."""
        if text:
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[text] = result
