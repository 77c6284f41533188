"""Parser of a watch's body: takes chunks, returns batches of `RawEvent`. No I/O."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from sampan.client.errors import TransportError
from sampan.client.watching.list_watch import RawEvent
from sampan.wire.json import UNREADABLE

LINE_SIZE_MAX: Final = 64 * 1024 * 1024
"""Maximum size of an event in bytes. It is far above what servers store; it bounds a stream without newlines."""

_decoder: Final = msgspec.json.Decoder(RawEvent)


class EventLines:
    """Splits chunks into lines and parses them. Errors are raised after the events before them."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._rest_size = 0

    def feed(self, chunk: bytes) -> Iterator[Sequence[RawEvent]]:
        """Yield the events that the chunk completes, in at most one batch. Raises `TransportError` for a bad event."""
        lines, newline, rest = chunk.rpartition(b"\n")
        if newline:
            if self._rest:
                lines = b"".join((*self._rest, lines))
                self._rest.clear()
                self._rest_size = 0
            yield from _events(lines)
        if rest:
            self._rest.append(rest)
            self._rest_size += len(rest)
            if self._rest_size > LINE_SIZE_MAX:
                raise TransportError(f"watch event has more than {LINE_SIZE_MAX} bytes", sent=True)

    def end(self) -> Iterator[Sequence[RawEvent]]:
        """Yield the last event if the stream ends without a newline. Raises `TransportError` if it is incomplete."""
        rest = b"".join(self._rest)
        self._rest.clear()
        if rest.strip():
            yield from _events(rest)


def _events(lines: bytes) -> Iterator[Sequence[RawEvent]]:
    try:
        batch = _decoder.decode_lines(lines)
    except UNREADABLE:
        yield from _events_before_the_fault(lines)
        return
    if batch:
        yield batch


def _events_before_the_fault(lines: bytes) -> Iterator[Sequence[RawEvent]]:
    batch: list[RawEvent] = []
    for line in lines.split(b"\n"):
        if not line.strip():
            continue
        try:
            batch.append(_decoder.decode(line))
        except UNREADABLE as error:
            if batch:
                yield batch
            text = line[:256].decode("utf-8", "replace")
            raise TransportError(f"cannot decode watch event: {error}: {text}", sent=True) from None
    yield batch
