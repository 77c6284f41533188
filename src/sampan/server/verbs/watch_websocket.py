"""WATCH over a WebSocket: one message an event, text for JSON, binary for protobuf.

Concurrency: one task sends events, one listens for the client's good-bye; whichever ends first ends the other. What a
client sends is ignored. One that does not read holds up the sender, and so becomes a watcher that is too slow.
Source: apiserver pkg/endpoints/handlers/watch.go HandleWS (1.36).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from sampan.server.request import Response
from sampan.server.verbs import watch as plain
from sampan.server.verbs.scope import Scope
from sampan.server.websocket import accept, wants_websocket
from sampan.wire.websocket import WebSocket

_LENGTH_BYTES = 4


async def watch(scope: Scope) -> Response:
    """A stream of chunks, or of messages where the client asks for a WebSocket."""
    if not wants_websocket(scope.request):
        return await plain.watch(scope)
    events: Response | None = None

    async def serve(websocket: WebSocket) -> None:
        if events is not None and events.stream is not None:
            await _send_all(websocket, events.stream, _splitter(events.content_type))

    answer = accept(scope.request, serve)
    if answer.takeover is None:
        return answer
    events = await plain.watch(scope)
    answer.finished = events.finished
    return answer


async def _send_all(websocket: WebSocket, stream: AsyncIterator[bytes], split: "_Split") -> None:
    """Send until the stream or the client ends."""
    async with asyncio.TaskGroup() as group:
        ends = {group.create_task(_send(websocket, stream, split)), group.create_task(_ignore(websocket))}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in ends:
            task.cancel()


async def _send(websocket: WebSocket, stream: AsyncIterator[bytes], split: "_Split") -> None:
    try:
        async for chunk in stream:
            for message in split(chunk):
                await websocket.send(message)
    finally:
        aclose: Callable[[], Awaitable[None]] | None = getattr(stream, "aclose", None)
        if aclose is not None:
            await aclose()


async def _ignore(websocket: WebSocket) -> None:
    while await websocket.receive() is not None:
        pass


_Split = Callable[[bytes], Iterable[str | bytes]]


def _splitter(content_type: str) -> _Split:
    return split_delimited if "protobuf" in content_type else split_lines


def split_lines(chunk: bytes) -> list[str | bytes]:
    """The events of a JSON stream, each with the line's end."""
    return [f"{line}\n" for line in chunk.decode().split("\n") if line]


def split_delimited(chunk: bytes) -> list[str | bytes]:
    """The events of a protobuf stream, without their lengths."""
    messages: list[str | bytes] = []
    at = 0
    while at < len(chunk):
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(chunk[at:start], "big")
        messages.append(chunk[start:at])
    return messages
