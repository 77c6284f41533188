"""exec and attach: the streams of a process over WebSocket or SPDY.

Source: cri-streaming pkg/streaming/remotecommand/{httpstream,websocket}.go (1.36).
"""

import asyncio
from typing import Final

from sampan.http.server import AnyResponse, Request, Tunnel
from sampan.node.server.channels import WebSocketChannels
from sampan.node.server.command import OpenSession, run_command
from sampan.node.server.conversation import converse
from sampan.node.server.spdy import SpdyConnection, SpdyStream
from sampan.node.server.streams import CommandStreams
from sampan.node.server.upgrade import accept_spdy, accept_websocket, is_websocket
from sampan.node.sessions import Streams
from sampan.wire.websocket import WebSocket

STREAM_CREATION_TIMEOUT_S: Final = 30.0
"""Time that a SPDY client may take to open the streams that it has requested."""

_V5: Final = "v5.channel.k8s.io"
WEBSOCKET_PROTOCOLS: Final = (
    _V5,
    "v4.channel.k8s.io",
    "v3.channel.k8s.io",
    "v2.channel.k8s.io",
    "channel.k8s.io",
    "v4.base64.channel.k8s.io",
    "base64.channel.k8s.io",
    "",
)
SPDY_PROTOCOLS: Final = ("v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io")
_WITH_STATUS: Final = (_V5, "v4.channel.k8s.io", "v4.base64.channel.k8s.io")
_WITH_RESIZE: Final = ("v4.channel.k8s.io", "v3.channel.k8s.io")
_STDIN, _STDOUT, _STDERR, _ERROR, _RESIZE = range(5)


class BadStreams(ValueError):
    """The request selects no streams."""


def desired_streams(request: Request) -> Streams:
    """Return the streams that a request selects. Raises `BadStreams`."""
    selected = {
        name for name in ("input", "output", "error", "tty") if request.query.get(name, [""])[0] in ("1", "true")
    }
    tty = "tty" in selected
    streams = Streams("input" in selected, "output" in selected, "error" in selected and not tty, tty)
    if not (streams.stdin or streams.stdout or streams.stderr):
        raise BadStreams("you must specify at least 1 of stdin, stdout, stderr")
    return streams


def serve_command(request: Request, desired: Streams, open_session: OpenSession, *, attached: bool) -> AnyResponse:
    """Return the response to a request for exec or attach. The session is opened once the streams exist."""

    async def over_websocket(websocket: WebSocket) -> None:
        channels = _channels(websocket, desired)
        streams = _of_channels(channels, websocket.protocol, desired)

        async def work() -> None:
            # Old clients wait for an empty message before they use the connection.
            await channels.send(_STDOUT if desired.stdout else _STDERR if desired.stderr else _ERROR, b"")
            await run_command(open_session, streams, attached=attached)

        await converse(channels.run(), work(), channels.close)

    async def over_spdy(tunnel: Tunnel, protocol: str) -> None:
        await _SpdyCommand(tunnel, protocol, desired).serve(open_session, attached=attached)

    if is_websocket(request):
        return accept_websocket(request, WEBSOCKET_PROTOCOLS, over_websocket)
    return accept_spdy(request, SPDY_PROTOCOLS, over_spdy)


def _channels(websocket: WebSocket, desired: Streams) -> WebSocketChannels:
    readable = (_STDIN, _RESIZE) if desired.stdin else (_RESIZE,)
    return WebSocketChannels(websocket, readable, with_close=websocket.protocol == _V5)


def _of_channels(channels: WebSocketChannels, protocol: str, desired: Streams) -> CommandStreams:
    return CommandStreams(
        channels.sink(_ERROR),
        protocol in _WITH_STATUS,
        channels.source(_STDIN) if desired.stdin else None,
        channels.sink(_STDOUT) if desired.stdout else None,
        channels.sink(_STDERR) if desired.stderr else None,
        channels.source(_RESIZE),
    )


class _SpdyCommand:
    """SPDY connection on which the client opens a SPDY stream for each stream of the request.

    A header contains the stream's type.
    """

    def __init__(self, tunnel: Tunnel, protocol: str, desired: Streams) -> None:
        self._protocol = protocol
        self._expected = {"error"} | {
            name
            for name, is_desired in (
                ("stdin", desired.stdin),
                ("stdout", desired.stdout),
                ("stderr", desired.stderr),
                ("resize", desired.tty and protocol in _WITH_RESIZE),
            )
            if is_desired
        }
        self._opened: dict[str, SpdyStream] = {}
        self._complete = asyncio.Event()
        self._connection = SpdyConnection(tunnel, self._accept)

    async def serve(self, open_session: OpenSession, *, attached: bool) -> None:
        """Wait for the streams, then serve the process."""

        async def work() -> None:
            async with asyncio.timeout(STREAM_CREATION_TIMEOUT_S):
                await self._complete.wait()
            opened = self._opened
            streams = CommandStreams(
                opened["error"],
                self._protocol in _WITH_STATUS,
                opened.get("stdin"),
                opened.get("stdout"),
                opened.get("stderr"),
                opened.get("resize"),
            )
            for name in ("error", "stdout", "stderr"):
                if name in opened:
                    opened[name].incoming.abandon()
            await run_command(open_session, streams, attached=attached)

        await converse(self._connection.run(), work(), self._goodbye)

    def _accept(self, stream: SpdyStream) -> bool:
        name = stream.headers.get("streamtype", "")
        if name not in self._expected or name in self._opened:
            return False
        self._opened[name] = stream
        if len(self._opened) == len(self._expected):
            self._complete.set()
        return True

    def _goodbye(self) -> None:
        for stream in self._opened.values():
            stream.incoming.abandon()
            stream.finish()
        self._connection.close()
