"""The body of a watch, cut into lines and typed: chunks in, batches of `RawEvent` out. No I/O."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from sampan.client.errors import TransportError
from sampan.client.list_watch import RawEvent
from sampan.wire.json import UNREADABLE

LINE_SIZE_MAX: Final = 64 * 1024 * 1024
"""Bytes of the longest event: far above what any server stores, so that a stream without newlines has an end."""

_decoder: Final = msgspec.json.Decoder(RawEvent)


class EventLines:
    """Collects what is left of a line until the next chunk. Errors come after the good events before them."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._rest_size = 0

    def feed(self, chunk: bytes) -> Iterator[Sequence[RawEvent]]:
        """The events that the chunk completes: at most one batch. Raises `TransportError` for what is no event."""
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
                raise TransportError(f"an event of the watch has more than {LINE_SIZE_MAX} bytes", sent=True)

    def end(self) -> Iterator[Sequence[RawEvent]]:
        """What was left when the stream ended: an event without its newline, or, as an error, a part of one."""
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
            raise TransportError(f"a line of the watch is no event ({error}): {text}", sent=True) from None
    yield batch
