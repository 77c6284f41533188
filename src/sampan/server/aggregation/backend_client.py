"""`BackendClient`: GET requests of the server to backends.

Concurrency: runs in the caller's task, for at most `timeout_s`; the caller limits the size of the body.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from sampan.core.errors import StatusError, service_unavailable
from sampan.registry.webhook.services import ServiceError
from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.backend import AGGREGATOR, Backends
from sampan.server.proxy.exchange import Exchange, Outgoing
from sampan.server.proxy.forward import Proxy
from sampan.server.proxy.headers import first
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Headers


class BackendError(Exception):
    """The backend sent no usable response; the text has the reason."""


@dataclass(frozen=True, slots=True)
class BackendResponse:
    """Complete response to a GET of a server behind an APIService."""

    url: str
    status: int
    headers: Headers
    body: bytes

    def header(self, name: bytes) -> str:
        """Return the first header with this lower-case name, or an empty string."""
        return first(self.headers, name)


class BackendClient:
    """Client with the identity of the aggregator."""

    def __init__(self, backends: Backends, proxy: Proxy, timeout_s: float = 5.0) -> None:
        self._backends = backends
        self._proxy = proxy
        self._timeout_s = timeout_s

    async def get(
        self, api_service: ApiService, path: str, headers: Mapping[str, str], *, body_bytes_max: int
    ) -> BackendResponse:
        """Return the response; redirects are not followed. **Raises** `BackendError`.

        `body_bytes_max` limits the body; 0: it is not read.
        """
        try:
            target = self._backends.target(api_service, AGGREGATOR, path)
        except (ServiceError, OSError) as error:
            raise BackendError(str(error)) from error
        url = f"https://{target.authority}{path}"
        sent = {"host": target.authority, "user-agent": "sampan", "accept-encoding": "identity", **headers}
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(target, url, Outgoing("GET", sent), body_bytes_max)
        except TimeoutError:
            text = f'Get "{url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
            raise BackendError(text) from None
        except StatusError as error:
            raise BackendError(f'Get "{url}": {_plain(error)}') from error
        except ConnectionError as error:
            raise BackendError(f'Get "{url}": {error}') from error

    async def _exchange(
        self, target: ProxyTarget, url: str, outgoing: Outgoing, body_bytes_max: int
    ) -> BackendResponse:
        exchange = await self._proxy.send(target, outgoing)
        try:
            content = await _body(exchange, body_bytes_max) if body_bytes_max else b""
            return BackendResponse(url, exchange.response.status, exchange.response.fields, content)
        finally:
            await exchange.aclose()


async def _body(exchange: Exchange, bytes_max: int) -> bytes:
    content = bytearray()
    async for piece in exchange:
        content += piece
        if len(content) > bytes_max:
            raise service_unavailable(f"the response is longer than {bytes_max} bytes")
    return bytes(content)


def _plain(error: StatusError) -> str:
    return error.message.removeprefix("error trying to reach service: ")
