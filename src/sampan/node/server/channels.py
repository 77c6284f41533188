"""`WebSocketChannels`: numbered streams within a WebSocket. Each message begins with the number of its channel.

Source: streaming pkg/httpstream/wsstream/conn.go (1.36).
"""

import base64
import binascii
from collections.abc import Collection
from typing import Final

from sampan.node.server.pipe import Pipe
from sampan.wire.websocket import WebSocket

CLOSE: Final = 255
"""In v5: the byte behind it is the channel on which the client has said its last."""
MESSAGE_BYTES_MAX: Final = 32 << 20
"""Of a message from a client: some send a whole file in one."""


class WebSocketChannels:
    """`readable`: the channels on which the client may send; what it sends on others is dropped.

    What it sends waits in a pipe for each channel; a full one stops the connection.
    """

    def __init__(self, websocket: WebSocket, readable: Collection[int], *, with_close: bool = False) -> None:
        self._websocket = websocket
        self._in_base64 = "base64" in websocket.protocol
        self._with_close = with_close
        self._pipes = {number: Pipe() for number in readable}

    async def run(self) -> None:
        """Take in what the client sends, until it has gone."""
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
        """What comes on a channel, which is a readable one."""
        return self._pipes[number]

    def sink(self, number: int) -> "ChannelSink":
        """What goes out on a channel."""
        return ChannelSink(self, number)

    async def send(self, number: int, data: bytes) -> None:
        """Send a message. Raises `OSError` when the client has gone."""
        if self._in_base64:
            await self._websocket.send(chr(ord("0") + number) + base64.b64encode(data).decode())
        else:
            await self._websocket.send(bytes((number,)) + data)

    def close(self) -> None:
        """Say good-bye. What the client still sends is dropped."""
        for pipe in self._pipes.values():
            pipe.abandon()
        self._websocket.close()

    async def _take(self, data: bytes) -> bool:
        """Whether the connection goes on."""
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
    """The outgoing direction of a channel."""

    def __init__(self, channels: WebSocketChannels, number: int) -> None:
        self._channels = channels
        self._number = number

    async def write(self, data: bytes) -> None:
        """See `Sink.write`."""
        await self._channels.send(self._number, data)

    async def close(self) -> None:
        """There is no such message to a client: the end of the connection is the end of its channels."""
