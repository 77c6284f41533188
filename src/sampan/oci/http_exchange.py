"""`HttpExchange`: requests to any server by URL, for registries and their authorization servers.

Credentials and images go over TLS, except on loopback and to servers in `insecure`.
"""

import asyncio
import os
import types
from collections.abc import AsyncIterator, Collection, Mapping
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import urljoin

from sampan.client.config.proxy import proxy_from_environment
from sampan.core.addresses.url import split_url
from sampan.http.client.address import ProxyAddress, ServerAddress
from sampan.http.client.errors import TransportError
from sampan.http.client.pending_response import PendingResponse
from sampan.http.client.request import Headers, HttpRequest
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.transport import HttpTransport
from sampan.oci.errors import RegistryError

_REDIRECTS_MAX: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_TRIES: Final = 4
_PAUSE_S: Final = 0.5
_PAUSE_S_MAX: Final = 30.0
_RETRIED: Final = frozenset({408, 429, 500, 502, 503, 504})
_TIMEOUT_S: Final = 300.0
"""Time limit for a response without silence, such as an uploaded piece of a layer."""
_SILENCE_S: Final = 60.0


class RegistryResponse:
    """Response of a server. It must be read or closed."""

    def __init__(self, response: PendingResponse, url: str) -> None:
        self._response = response
        self.url = url

    @property
    def status(self) -> int:
        """Status code."""
        return self._response.status

    @property
    def headers(self) -> Headers:
        """Header fields, names in lower case."""
        return self._response.headers

    async def read(self, bytes_max: int) -> bytes:
        """Return the body. Raises `RegistryError` if it is larger than `bytes_max`, or breaks off."""
        pieces: list[bytes] = []
        size = 0
        async for piece in self.chunks():
            size += len(piece)
            if size > bytes_max:
                await self.aclose()
                raise RegistryError(f"{self.url}: the body has over {bytes_max} bytes", self.status)
            pieces.append(piece)
        return b"".join(pieces)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives. Raises `RegistryError` if it breaks off."""
        try:
            async for piece in self._response.chunks():
                yield piece
        except TransportError as error:
            raise RegistryError(f"{self.url}: {error}") from error

    async def aclose(self) -> None:
        """Close the connection, unless the whole body has been read."""
        await self._response.aclose()


class HttpExchange:
    """Client for any number of servers, with one pool of connections for each."""

    def __init__(self, *, insecure: Collection[str] = ()) -> None:
        """`insecure`: hosts (with port) that may be reached without TLS."""
        self._insecure = frozenset(insecure)
        self._transports: dict[str, HttpTransport] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: types.TracebackType | None
    ) -> None:
        for transport in self._transports.values():
            await transport.aclose()

    def base_of(self, host: str) -> str:
        """Return the URL of a registry: http on loopback and for hosts in `insecure`, else https."""
        return f"{'http' if self._may_be_plain(host) else 'https'}://{host}"

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] = {},
        body: bytes = b"",
        *,
        replay: bool = True,
    ) -> RegistryResponse:
        """Send a request, and again after a fault or an overload. Reads follow redirects, to other servers without
        `Authorization`. Raises `RegistryError`.

        `replay`: False for a request that must not be sent twice.
        """
        for _ in range(_REDIRECTS_MAX + 1):
            response = await self._send_repeatedly(method, url, headers, body, replay=replay)
            location = response.headers.get("location", "")
            if response.status not in _REDIRECTS or method not in ("GET", "HEAD") or not location:
                return response
            await response.aclose()
            target = urljoin(url, location)
            if _authority(target) != _authority(url):
                headers = {name: value for name, value in headers.items() if name != "authorization"}
            url = target
        raise RegistryError(f"{url}: more than {_REDIRECTS_MAX} redirects")

    async def _send_repeatedly(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, *, replay: bool
    ) -> RegistryResponse:
        pause_s = _PAUSE_S
        for tries_left in reversed(range(_TRIES)):
            try:
                response = await self._send_once(method, url, headers, body)
                if response.status not in _RETRIED or not replay or not tries_left:
                    return response
                wait_s = max(pause_s, _retry_after_s(response.headers))
                await response.aclose()
            except TransportError as error:
                if not tries_left or (error.sent and not replay):
                    raise RegistryError(str(error)) from error
                wait_s = pause_s
            await asyncio.sleep(min(wait_s, _PAUSE_S_MAX))
            pause_s *= 2
        raise AssertionError("the last try returns or raises")

    async def _send_once(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> RegistryResponse:
        try:
            parts = split_url(url)
            transport = self._transport(f"{parts.scheme}://{parts.netloc}")
        except ValueError as error:
            raise RegistryError(str(error)) from None
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        request = HttpRequest(method, target, dict(headers), body, timeout_s=_TIMEOUT_S, idle_timeout_s=_SILENCE_S)
        try:
            return RegistryResponse(await transport.send(request), url)
        except ValueError as error:
            raise RegistryError(f"{url}: {error}") from None

    def _transport(self, origin: str) -> HttpTransport:
        address = ServerAddress.parse(origin)
        if not address.secure and not self._may_be_plain(address.authority):
            raise ValueError(f"{origin} does not use TLS, which only registries on loopback may do")
        if origin not in self._transports:
            settings = HttpClientSettings(compression=False, decompression=False)
            url = proxy_from_environment(os.environ, address)
            proxy = ProxyAddress.parse(url) if url else None
            self._transports[origin] = HttpTransport(address, proxy=proxy, settings=settings)
        return self._transports[origin]

    def _may_be_plain(self, authority: str) -> bool:
        return authority in self._insecure or is_loopback(authority)


def is_loopback(authority: str) -> bool:
    """Return whether a host, with or without a port, is this machine by its name or literal address."""
    host = split_url(f"http://{authority}").hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _authority(url: str) -> tuple[str, str]:
    parts = split_url(url)
    return parts.scheme, parts.netloc


def _retry_after_s(headers: Headers) -> float:
    value = headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() and len(value) < 9 else 0.0
