"""Receivers that write down what a reader calls."""

from typing import Any

from sampan.wire.http1 import RequestHead, RequestReader, ResponseHead, ResponseReader


class Events:
    """Events of a reader; pieces of a body are joined, as their borders mean nothing."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_head(self, head: RequestHead | ResponseHead) -> None:
        self.events.append(head)

    def on_data(self, data: bytes) -> None:
        if isinstance(self.events[-1], bytes):
            self.events[-1] += data
        else:
            self.events.append(data)

    def on_end(self, *, reusable: bool = True) -> None:
        self.events.append(("end", reusable))


def requests(*pieces: bytes) -> list[Any]:
    """Return the requests that a server reads. Raises `Malformed`."""
    events = Events()
    reader = RequestReader(events)
    for piece in pieces:
        reader.feed(piece)
    return events.events


def responses(methods: list[str], *pieces: bytes, ended: bool = False) -> list[Any]:
    """Return the responses that a client reads; it sends one request at a time. Raises `Malformed`, `EOFError`."""
    events = Events()
    reader = ResponseReader(events)
    waiting = iter(methods)
    reader.expect(next(waiting))
    for piece in pieces:
        reader.feed(piece)
        if events.events and isinstance(events.events[-1], tuple) and (method := next(waiting, None)):
            reader.expect(method)
    if ended:
        reader.end()
    return events.events
