"""`Tunnel`: asks a proxy for a way through to the server (CONNECT). Source: RFC 9110, section 9.3.6."""

import asyncio
from base64 import b64encode
from typing import cast

import httptools

from sampan.client.errors import TransportError
from sampan.client.http.address import ProxyAddress

_HEAD_BYTES_MAX = 64 << 10


class Tunnel(asyncio.Protocol):
    """The protocol of a connection to a proxy, until the proxy has agreed."""

    def __init__(self, proxy: ProxyAddress, host: str, port: int) -> None:
        self._proxy = proxy
        self._target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._agreed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._size = 0

    async def agreed(self) -> None:
        """Returns when the way is open. Raises `TransportError`."""
        await self._agreed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        lines = [f"CONNECT {self._target} HTTP/1.1", f"host: {self._target}"]
        authorization = proxy_authorization(self._proxy)
        if authorization:
            lines.append(f"proxy-authorization: {authorization}")
        cast(asyncio.Transport, transport).write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def data_received(self, data: bytes) -> None:
        self._size += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._refuse(f"does not answer in HTTP: {error}")
        if self._size > _HEAD_BYTES_MAX:
            self._refuse("answers without end")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if 200 <= status < 300:
            if not self._agreed.done():
                self._agreed.set_result(None)
        elif status >= 300:
            self._refuse(f"refused with {status}")

    def connection_lost(self, exc: Exception | None) -> None:
        self._refuse("closed the connection")

    def _refuse(self, why: str) -> None:
        if not self._agreed.done():
            self._agreed.set_exception(
                TransportError(f"proxy {self._proxy}: it {why} (asked for {self._target})", sent=False)
            )


def proxy_authorization(proxy: ProxyAddress) -> str:
    """The value of `Proxy-Authorization`; empty when the proxy wants none."""
    if not proxy.username:
        return ""
    return "Basic " + b64encode(f"{proxy.username}:{proxy.password}".encode()).decode("ascii")
