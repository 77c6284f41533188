"""`SocksTunnel`: asks a SOCKS5 proxy for a way through to the server. Source: RFC 1928, RFC 1929."""

import asyncio
import ipaddress
from collections.abc import Iterator
from typing import cast

from sampan.client.errors import TransportError
from sampan.client.http.address import ProxyAddress

_VERSION = 5
_NO_LOGIN, _LOGIN = 0, 2
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REFUSALS = {
    1: "general failure",
    2: "not allowed",
    3: "network unreachable",
    4: "host unreachable",
    5: "connection refused",
    6: "expired",
    7: "command not supported",
    8: "kind of address not supported",
}


class SocksTunnel(asyncio.Protocol):
    """The protocol of a connection to a SOCKS5 proxy, until the proxy has agreed. Names are left to the proxy."""

    def __init__(self, proxy: ProxyAddress, host: str, port: int) -> None:
        self._proxy = proxy
        self._host = host
        self._port = port
        self._agreed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport = cast(asyncio.Transport, None)
        self._received = b""
        self._talk = self._negotiation()
        self._wanted = 0

    async def agreed(self) -> None:
        """Returns when the way is open. Raises `TransportError`."""
        await self._agreed

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._wanted = next(self._talk)

    def data_received(self, data: bytes) -> None:
        self._received += data
        while not self._agreed.done() and len(self._received) >= self._wanted:
            try:
                self._wanted = next(self._talk)
            except StopIteration:
                self._agreed.set_result(None)
            except ValueError as error:
                self._refuse(str(error))

    def connection_lost(self, exc: Exception | None) -> None:
        self._refuse("it closed the connection")

    def _negotiation(self) -> Iterator[int]:
        """What is said, as a dialogue: each `yield` waits until so many bytes are there."""
        login = bool(self._proxy.username)
        self._transport.write(bytes([_VERSION, 1, _LOGIN if login else _NO_LOGIN]))
        yield 2
        version, method = self._take(2)
        if version != _VERSION:
            raise ValueError("it does not speak SOCKS5")
        if method != (_LOGIN if login else _NO_LOGIN):
            raise ValueError("it does not accept our login" if login else "it wants a login")
        if login:
            name, password = self._proxy.username.encode()[:255], self._proxy.password.encode()[:255]
            self._transport.write(bytes([1, len(name)]) + name + bytes([len(password)]) + password)
            yield 2
            if self._take(2)[1] != 0:
                raise ValueError("it does not accept our login")
        self._transport.write(bytes([_VERSION, _CONNECT, 0]) + self._address() + self._port.to_bytes(2, "big"))
        yield 5
        _, code, _, kind, length = self._received[:5]
        if code != 0:
            raise ValueError(f"it refused: {_REFUSALS.get(code, f'code {code}')}")
        size = {_IPV4: 4, _IPV6: 16, _NAME: 1 + length}.get(kind)
        if size is None:
            raise ValueError("it answers with an unknown kind of address")
        yield 4 + size + 2

    def _take(self, count: int) -> bytes:
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _address(self) -> bytes:
        try:
            address = ipaddress.ip_address(self._host)
        except ValueError:
            name = self._host.encode("idna")
            return bytes([_NAME, len(name)]) + name
        return bytes([_IPV4 if address.version == 4 else _IPV6]) + address.packed

    def _refuse(self, why: str) -> None:
        if not self._agreed.done():
            self._agreed.set_exception(
                TransportError(f"proxy {self._proxy}: {why} (asked for {self._host}:{self._port})", sent=False)
            )
