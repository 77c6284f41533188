"""`HttpTransport`: HTTP/1.1 to one server, with an optional proxy."""

from sampan.http.client.address import ProxyAddress, ServerAddress
from sampan.http.client.client import HttpClient
from sampan.http.client.connection import Connection
from sampan.http.client.dial import Dialer
from sampan.http.client.pending_response import PendingResponse
from sampan.http.client.proxies import proxy_authorization
from sampan.http.client.request import HttpRequest
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.tls import ClientCertificate, TlsContexts, TlsOptions
from sampan.http.tunnel import Tunnel
from sampan.wire.http1 import request_head

SWITCHING_PROTOCOLS = 101
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})


class HttpTransport:
    """Transport to one server, with the guarantees of `HttpClient`."""

    def __init__(
        self,
        address: ServerAddress,
        *,
        tls: TlsOptions | None = None,
        proxy: ProxyAddress | None = None,
        settings: HttpClientSettings | None = None,
    ) -> None:
        self.address = address
        self.settings = settings or HttpClientSettings()
        self._tls = TlsContexts(tls or TlsOptions())
        self._origin = Dialer(address, tls=self._tls, proxy=proxy, connect_timeout_s=self.settings.connect_timeout_s)
        self._client = HttpClient(self.settings)
        absolute = self._origin.absolute
        self._before_target = (f"{address.scheme}://{address.authority}" if absolute else "") + address.prefix
        self._always = {"host": address.authority}
        if self.settings.compression:
            self._always["accept-encoding"] = "gzip"
        if proxy is not None and absolute and (authorization := proxy_authorization(proxy)):
            self._always["proxy-authorization"] = authorization

    @property
    def connection_count(self) -> int:
        """Number of connections, including idle ones."""
        return self._client.pool.connection_count

    def use_certificate(self, certificate: ClientCertificate | None) -> None:
        """Use another client certificate for new connections. Existing connections get no further requests."""
        if self._tls.use_certificate(certificate):
            self._client.pool.retire()

    async def send(self, request: HttpRequest) -> PendingResponse:
        """Send a request and wait for the head of the response. Raises `TransportError`; `ValueError` for a bad
        request.

        Cancellation before the head arrives cuts the connection.
        """
        return await self._client.send(self._origin, request, self._head(request))

    async def switch(self, request: HttpRequest) -> Tunnel | PendingResponse:
        """Send a request for an upgrade on a new connection. Return the connection after a 101, else the response.

        Raises the same errors as `send`. `aclose` does not close the returned connection.
        """
        response, connection = await self.send_alone(request)
        return connection.switch() if response.status == SWITCHING_PROTOCOLS else response

    async def send_alone(self, request: HttpRequest) -> tuple[PendingResponse, Connection]:
        """Send a request on a new connection, which the caller may switch to another protocol after a 101.

        Raises the same errors as `send`.
        """
        begun: list[Connection] = []
        response = await self._client.send(
            self._origin,
            request,
            self._head(request),
            replay=False,
            fresh=True,
            begun=lambda connection, _: begun.append(connection),
        )
        return response, begun[-1]

    async def aclose(self) -> None:
        """Cut all connections."""
        await self._client.aclose()

    def _head(self, request: HttpRequest) -> bytes:
        """Return the head with its empty line. Raises `ValueError` if a part contains a line break."""
        target = request.target
        if not target.startswith("/") or not target.isascii():
            raise ValueError(f"bad target {target!r}")
        headers = {**self._always, **request.headers}
        body, method = request.body, request.method
        if body or method in _BODY_METHODS:
            headers["content-length"] = str(len(body))
        return request_head(method, self._before_target + target, headers.items())
