"""`WebSocketChannels`: numbered streams in a WebSocket. Each message starts with the number of its channel.

Source: streaming pkg/httpstream/wsstream/conn.go (1.36).
"""

import base64
import binascii
from collections.abc import Collection
from typing import Final

from sampan.node.server.pipe import Pipe
from sampan.wire.websocket import WebSocket

CLOSE: Final = 255
"""Channel number of a close message (v5). The next byte is the channel that the client closes."""
MESSAGE_BYTES_MAX: Final = 32 << 20
"""Maximum size of a client's message. Some clients send a whole file in one."""


class WebSocketChannels:
    """WebSocket with numbered channels.

    `readable`: channels on which the client may send; data on other channels is dropped.

    Data from the client is buffered in a pipe for each channel. A full pipe stops reading from the connection.
    """

    def __init__(self, websocket: WebSocket, readable: Collection[int], *, with_close: bool = False) -> None:
        self._websocket = websocket
        self._in_base64 = "base64" in websocket.protocol
        self._with_close = with_close
        self._pipes = {number: Pipe() for number in readable}

    async def run(self) -> None:
        """Read the client's messages until it disconnects."""
        try:
            while (message := await self._websocket.receive()) is not None:
                data = message.encode() if isinstance(message, str) else message
                if data and not await self._take(data):
                    break
        finally:
            for pipe in self._pipes.values():
                pipe.end()
        await self._websocket.wait_closed()

    def source(self, number: int) -> Pipe:
        """Return the incoming stream of a readable channel."""
        return self._pipes[number]

    def sink(self, number: int) -> "ChannelSink":
        """Return the outgoing stream of a channel."""
        return ChannelSink(self, number)

    async def send(self, number: int, data: bytes) -> None:
        """Send a message. Raises `OSError` if the client has disconnected."""
        if self._in_base64:
            await self._websocket.send(chr(ord("0") + number) + base64.b64encode(data).decode())
        else:
            await self._websocket.send(bytes((number,)) + data)

    def close(self) -> None:
        """Send a close frame. Later data from the client is dropped."""
        for pipe in self._pipes.values():
            pipe.abandon()
        self._websocket.close()

    async def _take(self, data: bytes) -> bool:
        """Handle one message. Returns False if it closes the connection."""
        number = data[0] - ord("0") if self._in_base64 else data[0]
        if self._with_close and number == CLOSE:
            closed = self._pipes.get(data[1]) if len(data) == 2 else None
            if closed is not None:
                closed.end()
            return len(data) == 2
        pipe = self._pipes.get(number)
        if pipe is None:
            return True
        try:
            pipe.feed(base64.b64decode(data[1:], validate=True) if self._in_base64 else data[1:])
        except binascii.Error:
            return True
        await pipe.room()
        return True


class ChannelSink:
    """Outgoing direction of a channel."""

    def __init__(self, channels: WebSocketChannels, number: int) -> None:
        self._channels = channels
        self._number = number

    async def write(self, data: bytes) -> None:
        """Write to the channel, see `Sink.write`."""
        await self._channels.send(self._number, data)

    async def close(self) -> None:
        """Do nothing: the channel is closed together with the connection."""
