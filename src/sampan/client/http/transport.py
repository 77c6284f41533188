"""`HttpTransport`: HTTP/1.1 to one server, over kept-alive connections.

Concurrency: no tasks of its own. `ConnectionPool` bounds the connections, `Answer` the buffers; timers bound the waits.
"""

import asyncio

from sampan.client.errors import TransportError, TransportTimeout
from sampan.client.http.address import ProxyAddress, ServerAddress
from sampan.client.http.answer import Answer
from sampan.client.http.connection import Connection
from sampan.client.http.dial import Dialer
from sampan.client.http.head import RequestHeads
from sampan.client.http.pool import ConnectionPool
from sampan.client.http.settings import HttpSettings
from sampan.client.http.tls import ClientCertificate, TlsContexts, TlsOptions
from sampan.client.http.tunnel import proxy_authorization
from sampan.client.transport import HttpRequest

_REPLAYABLE = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods that may be sent again when a kept-alive connection broke before it answered. Source: Go net/http."""


class HttpTransport:
    """A `Transport` to one server.

    Guarantees: a request that was answered from a kept-alive connection by nothing but its end is sent once more on a
    new one, if its method is GET, HEAD or OPTIONS; nothing else is ever sent twice. `TransportError.sent` is False for
    what failed before the first byte was written.
    """

    def __init__(
        self,
        address: ServerAddress,
        *,
        tls: TlsOptions | None = None,
        proxy: ProxyAddress | None = None,
        settings: HttpSettings | None = None,
    ) -> None:
        self.address = address
        self.settings = settings or HttpSettings()
        self._tls = TlsContexts(tls or TlsOptions())
        self._dialer = Dialer(address, tls=self._tls, proxy=proxy, connect_timeout_s=self.settings.connect_timeout_s)
        self._pool = ConnectionPool(self.settings, self._dial)
        self._heads = RequestHeads(
            address,
            absolute=self._dialer.absolute,
            compression=self.settings.compression,
            proxy_authorization=proxy_authorization(proxy) if proxy else "",
        )
        self._names: dict[bytes, str] = {}

    @property
    def connection_count(self) -> int:
        """How many connections there are, idle ones included."""
        return self._pool.connection_count

    def use_certificate(self, certificate: ClientCertificate | None) -> None:
        """Show another client certificate from now on. Connections that show the old one take no further request."""
        if self._tls.use_certificate(certificate):
            self._pool.retire()

    async def send(self, request: HttpRequest) -> Answer:
        """Send a request and wait for the answer's head. Raises `TransportError`; `ValueError` for a bad request.

        Cancelled before the head has come, it cuts the connection.
        """
        head = self._heads.build(request)
        timeout_s = self.settings.request_timeout_s if request.timeout_s is None else request.timeout_s
        deadline = None if timeout_s is None else asyncio.get_running_loop().time() + timeout_s
        while True:
            connection = await self._connection(request, deadline)
            reused = connection.reused
            answer = connection.begin(request, head)
            if deadline is not None and timeout_s is not None:
                answer.expire_at(deadline, timeout_s)
            try:
                await answer.head()
            except TransportTimeout:
                # Idle connections take the same way through the network; they may be as dead as this one.
                self._pool.drop_idle()
                raise
            except TransportError:
                if not reused or connection.answer_begun or request.method not in _REPLAYABLE:
                    raise
                # The server closes kept-alive connections when it likes; those that idle will be as dead.
                self._pool.drop_idle()
                continue
            except BaseException:
                answer.close()
                raise
            return answer

    async def aclose(self) -> None:
        """Cut all connections."""
        await self._pool.aclose()

    async def _connection(self, request: HttpRequest, deadline: float | None) -> Connection:
        if deadline is None:
            return await self._pool.acquire(stream=request.stream)
        try:
            async with asyncio.timeout_at(deadline):
                return await self._pool.acquire(stream=request.stream)
        except TimeoutError as error:
            raise TransportTimeout(f"no connection to {self.address} was free in time", sent=False) from error

    async def _dial(self) -> Connection:
        return await self._dialer.connect(self._new_connection)

    def _new_connection(self) -> Connection:
        return Connection(self.settings, self._names, released=self._released, lost=self._lost)

    def _released(self, connection: Connection) -> None:
        self._pool.release(connection)

    def _lost(self, connection: Connection) -> None:
        self._pool.lost(connection)
