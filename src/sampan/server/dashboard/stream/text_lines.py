"""`TextLines`: lines of a text, such as the log of a container, as values of JSON."""

from typing import Final

import orjson

TEXT_LINE_BYTES_MAX: Final = 32 << 10
"""Size at which a line is cut. A page shows the beginning; a download has the whole line."""


class TextLines:
    """Splits the chunks of a text. It holds at most one line, and never more than the maximum of one."""

    def __init__(self) -> None:
        self._begun = b""
        self._skips = False
        """The rest of a line that was cut is dropped."""

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes: each a string, or `{"cut": string}`."""
        *pieces, last = chunk.split(b"\n")
        found = [line for piece in pieces if (line := self._complete(piece)) is not None]
        if not self._skips:
            self._begun += last
            if len(self._begun) > TEXT_LINE_BYTES_MAX:
                found.append(_line(self._begun))
                self._begun, self._skips = b"", True
        return found

    def end(self) -> list[bytes]:
        """Return the last line, if it has no line break."""
        begun, self._begun = self._begun, b""
        return [_line(begun)] if begun else []

    def _complete(self, piece: bytes) -> bytes | None:
        if self._skips:
            self._skips = False
            return None
        begun, self._begun = self._begun, b""
        return _line(begun + piece)


def _line(text: bytes) -> bytes:
    if len(text) > TEXT_LINE_BYTES_MAX:
        return orjson.dumps({"cut": text[:TEXT_LINE_BYTES_MAX].decode("utf-8", "replace")})
    return orjson.dumps(text.decode("utf-8", "replace"))
