"""`ClusterConnection`: requests to the cluster of a kubeconfig, with its credentials, as the page needs them.

It differs from the transport of a `Client`: it follows no redirects, retries nothing, and passes compressed bodies on
as they are. It can switch a connection to another protocol.
"""

from collections.abc import AsyncIterator, Collection
from datetime import datetime
from pathlib import Path
from typing import Final

from cryptography import x509

from sampan.client import Config, ConfigError
from sampan.client.identity import IdentityTransport
from sampan.client.stack import credential_source
from sampan.client.transport import Headers, HttpRequest, HttpResponse, Transport
from sampan.client.transports.credentials import CredentialsTransport
from sampan.http.client import HttpClientSettings, HttpTransport, PendingResponse, ProxyAddress, ServerAddress, Tunnel
from sampan.http.client.connection import Connection

CONNECT_TIMEOUT_S: Final = 10.0
_SETTINGS: Final = HttpClientSettings(
    connections_max=None,
    idle_per_server_max=16,
    connect_timeout_s=CONNECT_TIMEOUT_S,
    buffer_bytes_max=256 << 10,
    compression=False,
    decompression=False,
)


class ClusterConnection:
    """Connections to one cluster. They are made on demand; close them with `aclose`."""

    def __init__(self, transport: Transport, config: Config, namespaces: Collection[str] = ()) -> None:
        """`namespaces` are further ones that the kubeconfig names."""
        self._transport = transport
        self._config = config
        self.name = config.context
        """Name of the kubeconfig's context."""
        self.server = config.server
        """URL of the cluster."""
        self.namespaces = {config.namespace, *namespaces}
        """Namespaces that the kubeconfig names."""

    @classmethod
    def of(cls, config: Config, namespaces: Collection[str] = ()) -> "ClusterConnection":
        """Return the connections for a configuration. **Raises** `ConfigError` for a malformed address."""
        try:
            address = ServerAddress.parse(config.server)
            proxy = ProxyAddress.parse(config.proxy_url) if config.proxy_url else None
        except ValueError as error:
            raise ConfigError(str(error)) from error
        http = HttpTransport(address, tls=config.tls, proxy=proxy, settings=_SETTINGS)
        transport: Transport = Upgrades(http)
        source = credential_source(config)
        if source is not None:
            transport = CredentialsTransport(transport, source, use_certificate=http.use_certificate)
        transport = IdentityTransport(transport, user_agent=config.user_agent, impersonation=config.impersonation)
        return cls(transport, config, namespaces)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the response when its head arrives. **Raises** `TransportError`.

        The response to an upgrade that the cluster accepts is a `Switched`.
        """
        return await self._transport.send(request)

    def certificate_end(self) -> datetime | None:
        """Return the end of the kubeconfig's client certificate; None if it has none that can be read."""
        tls = self._config.tls
        try:
            pem = tls.certificate_data or Path(tls.certificate_file).read_bytes()
            return x509.load_pem_x509_certificate(pem).not_valid_after_utc
        except (OSError, ValueError):
            return None

    async def aclose(self) -> None:
        """Cut all connections, except those that were switched."""
        await self._transport.aclose()


class Switched:
    """Response 101: the connection can be switched to the protocol of its `Upgrade` header."""

    def __init__(self, response: PendingResponse, connection: Connection) -> None:
        self._response = response
        self._connection = connection

    @property
    def status(self) -> int:
        """Status code."""
        return self._response.status

    @property
    def headers(self) -> Headers:
        """Header fields."""
        return self._response.headers

    async def read(self) -> bytes:
        """Return what there is of a body: nothing."""
        return await self._response.read()

    def chunks(self) -> AsyncIterator[bytes]:
        """Yield what there is of a body: nothing."""
        return self._response.chunks()

    async def aclose(self) -> None:
        """Close the connection, unless it was switched."""
        self._response.close()

    def close(self) -> None:
        """Close the connection like `aclose`, for callers that cannot wait."""
        self._response.close()

    def switch(self) -> Tunnel:
        """Return the connection as a stream of bytes."""
        return self._connection.switch()


class Upgrades:
    """Innermost transport. Requests for an upgrade get a connection for themselves."""

    def __init__(self, http: HttpTransport) -> None:
        self._http = http

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request. **Raises** `TransportError`."""
        if "upgrade" not in request.headers:
            return await self._http.send(request)
        response, connection = await self._http.send_alone(request)
        return Switched(response, connection) if response.status == 101 else response

    async def aclose(self) -> None:
        """Cut all connections."""
        await self._http.aclose()
