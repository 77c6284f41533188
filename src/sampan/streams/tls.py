"""TLS on a stream, with the implementation of asyncio, because uvloop's accepts only its own transports."""

import asyncio
import ssl
from asyncio import sslproto
from typing import Any, Final, cast

from sampan.streams.transport import StreamTransport

_BUFFER_BYTES: Final = 32 << 10
"""Bytes of the receive buffer of each connection. A TLS record has at most 16 KiB."""
_SHUTDOWN_TIMEOUT_S: Final = 1.0


class _TlsProtocol(sslproto.SSLProtocol):
    max_size = _BUFFER_BYTES


async def start_tls(
    stream: StreamTransport, protocol: asyncio.BaseProtocol, context: ssl.SSLContext, server_name: str
) -> None:
    """Connect the protocol with TLS on the stream, and wait for the end of the handshake.

    The certificate must be valid for `server_name`. Raises `OSError`, for example `ssl.SSLError`.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()
    tls = _TlsProtocol(
        cast(Any, loop),
        protocol,
        context,
        done,
        server_side=False,
        server_hostname=server_name,
        ssl_shutdown_timeout=_SHUTDOWN_TIMEOUT_S,
    )
    stream.begin(tls)
    await done
    if stream.is_lost:  # asyncio reports an end without an error as a success
        raise ConnectionResetError("the stream ended during the TLS handshake")
