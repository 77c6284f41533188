"""Sends one question to one upstream: over UDP, and again over TCP if the response is truncated."""

import asyncio
import secrets
import struct
from typing import Final

from sampan.dns.message import CD, HEADER, MESSAGE_BYTES_MAX, RD, TC, Question, opt_record
from sampan.dns.relayed import BadResponse, Relayed, read_response
from sampan.dns.upstreams import Nameserver

_DNSSEC_OK: Final = 0x8000


async def exchange(
    upstream: Nameserver, question: Question, *, dnssec_ok: bool, checking_disabled: bool, timeout_s: float
) -> Relayed:
    """Return the upstream's response. Raises `OSError`, `TimeoutError` and `BadResponse`.

    Each question has a random id and a socket with a random port, so that a forged response is unlikely to match.
    """
    id = secrets.randbits(16)
    flags = RD | (CD if checking_disabled else 0)
    options = opt_record(_DNSSEC_OK if dnssec_ok else 0)
    data = HEADER.pack(id, flags, 1, 0, 0, 1) + question.encoded() + options
    async with asyncio.timeout(timeout_s):
        found = await _over_udp(upstream, data, id, question)
        return await _over_tcp(upstream, data, id, question) if found.flags & TC else found


class _Waiting(asyncio.DatagramProtocol):
    """Waits for the response; other datagrams are ignored."""

    def __init__(self, id: int, question: Question) -> None:
        self._id, self._question = id, question
        self.response: asyncio.Future[Relayed] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: object) -> None:
        """Accept the response to the question."""
        if self.response.done():
            return
        try:
            self.response.set_result(read_response(data, self._id, self._question))
        except BadResponse:
            return

    def error_received(self, exc: Exception) -> None:
        """Fail, because the upstream's machine has reported an error such as a closed port."""
        if not self.response.done():
            self.response.set_exception(exc)


async def _over_udp(upstream: Nameserver, data: bytes, id: int, question: Question) -> Relayed:
    transport, waiting = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Waiting(id, question), remote_addr=(upstream.host, upstream.port)
    )
    try:
        transport.sendto(data)
        return await waiting.response
    finally:
        transport.close()
        waiting.response.cancel()


async def _over_tcp(upstream: Nameserver, data: bytes, id: int, question: Question) -> Relayed:
    reader, writer = await asyncio.open_connection(upstream.host, upstream.port, limit=MESSAGE_BYTES_MAX)
    try:
        writer.write(struct.pack("!H", len(data)) + data)
        (size,) = struct.unpack("!H", await reader.readexactly(2))
        return read_response(await reader.readexactly(size), id, question)
    except asyncio.IncompleteReadError:
        raise BadResponse("the connection ended before the response") from None
    finally:
        writer.close()
