"""The receive buffer of a client's TLS connection is small, because an operator has many connections."""

import asyncio
import ssl
from asyncio import sslproto
from types import SimpleNamespace
from typing import Any, cast

from sampan.http.client.dial import _TLS_BUFFER_BYTES, _shrink_buffer


async def test_the_buffer_of_asyncio_shrinks_and_stays_small() -> None:
    loop, context = asyncio.get_running_loop(), ssl.create_default_context()
    protocol: Any = sslproto.SSLProtocol(loop, asyncio.Protocol(), context, loop.create_future(), server_hostname="a")
    assert len(protocol.get_buffer(-1)) > _TLS_BUFFER_BYTES
    _shrink_buffer(cast(asyncio.BaseTransport, SimpleNamespace(_ssl_protocol=protocol)))
    assert len(protocol.get_buffer(-1)) == _TLS_BUFFER_BYTES
    assert len(protocol.get_buffer(4)) == _TLS_BUFFER_BYTES
    protocol._get_app_transport()._closed = True  # It was never open.


async def test_another_transport_is_left_as_it_is() -> None:
    transport = asyncio.BaseTransport()
    _shrink_buffer(transport)
    assert not hasattr(transport, "_ssl_protocol")
