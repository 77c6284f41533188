"""Handshakes that turn a connection into a tunnel: a CONNECT of a proxy, an upgrade to another protocol."""

from sampan.http.tunnel import Tunnel
from sampan.wire.http1 import Half, Limits, Malformed, ResponseHead, ResponseReader

_LIMITS = Limits(head_bytes_max=64 << 10)


class HandshakeFailed(Exception):
    """Error: the peer has not switched to the other protocol. Its text continues a sentence about the peer."""


class _Response:
    """Receiver of the response."""

    status = 0

    def on_head(self, head: ResponseHead) -> None:
        self.status = head.status

    def on_data(self, data: bytes) -> None:
        """Ignore the body of a refusal."""

    def on_end(self, *, reusable: bool) -> None:
        """Ignore the end of the body."""


async def switch_protocol(tunnel: Tunnel, method: str, head: bytes) -> None:
    """Send the head of a request, and wait until the peer has switched. The tunnel's next bytes are of the other
    protocol.

    Raises `HandshakeFailed`.
    """
    tunnel.write(head)
    response = _Response()
    reader = ResponseReader(response, _LIMITS)
    reader.expect(method)
    while not response.status:
        data = await tunnel.read()
        if not data:
            raise HandshakeFailed("closed the connection")
        try:
            reader.feed(data)
        except Malformed as error:
            raise HandshakeFailed(
                "sent a response that is too large" if error.too_large else f"sent no HTTP response: {error}"
            ) from None
    if reader.half is not Half.SWITCHED:
        raise HandshakeFailed(f"refused with {response.status}")
    if ahead := reader.take_ahead():
        tunnel.unread(ahead)
