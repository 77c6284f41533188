"""WATCH over a WebSocket: one message for each event, text for JSON, binary for protobuf.

A client that does not read delays the sender, and so becomes a slow watcher.

Source: apiserver pkg/endpoints/handlers/watch.go HandleWS (1.36).
"""

from sampan.server.request import Response
from sampan.server.verbs.scope import RequestScope
from sampan.server.verbs.watch.watch import watch as plain
from sampan.server.websocket import Split, accept, send_stream, wants_websocket
from sampan.wire.websocket import WebSocket

_LENGTH_BYTES = 4


async def watch(scope: RequestScope) -> Response:
    """Return a stream of chunks, or of messages if the client requests a WebSocket."""
    if not wants_websocket(scope.request):
        return await plain(scope)
    events: Response | None = None

    async def serve(websocket: WebSocket) -> None:
        if events is not None and events.stream is not None:
            await send_stream(websocket, events.stream, _splitter(events.content_type))

    response = accept(scope.request, serve)
    if response.takeover is None:
        return response
    events = await plain(scope)
    response.finished = events.finished
    return response


def _splitter(content_type: str) -> Split:
    return split_delimited if "protobuf" in content_type else split_lines


def split_lines(chunk: bytes) -> list[str | bytes]:
    """Return the events of a JSON stream, each with its line end."""
    return [f"{line}\n" for line in chunk.decode().split("\n") if line]


def split_delimited(chunk: bytes) -> list[str | bytes]:
    """Return the events of a protobuf stream, without their lengths."""
    messages: list[str | bytes] = []
    at = 0
    while at < len(chunk):
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(chunk[at:start], "big")
        messages.append(chunk[start:at])
    return messages
