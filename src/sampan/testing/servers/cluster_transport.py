"""`ClusterTransport`: transport of one client to the current server of a cluster."""

from collections.abc import Awaitable, Callable

from sampan.client.transport import HttpRequest, HttpResponse
from sampan.server.request import UserInfo
from sampan.testing.requests import InterceptorChain
from sampan.testing.servers.in_process import InProcessTransport
from sampan.testing.servers.logical_server import LogicalServer


class ClusterTransport:
    """Transport of one client to the current server. `server` returns the running server, and starts it if needed."""

    def __init__(
        self, server: Callable[[], Awaitable[LogicalServer]], gate: InterceptorChain, user: UserInfo, actor: str
    ) -> None:
        self._server, self._gate, self._user, self._actor = server, gate, user, actor
        self._inner: InProcessTransport | None = None

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return the response, whatever its code, when its head arrives."""
        server = await self._server()
        if self._inner is None:
            token = server.users.token_of(self._user)
            headers = {"authorization": f"Bearer {token}", "user-agent": self._actor}
            self._inner = InProcessTransport(server.api.handler, headers=headers)
        return await self._gate.send(self._actor, request, self._inner)

    async def reset(self) -> None:
        """End all requests; the next one is sent to the server that is current then."""
        inner, self._inner = self._inner, None
        if inner is not None:
            await inner.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self.reset()
