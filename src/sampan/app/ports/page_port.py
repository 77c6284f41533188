"""`PagePort`: the second port of a server, on which only the dashboard's page is used: `--dashboard-port`.

Concurrency: `run` is the task of its HTTP server, which has the handler of the whole API server.
"""

import asyncio
import socket
import ssl

from sampan.app.errors import StartError
from sampan.app.listen import bind_socket
from sampan.app.ports.bound_port import listen_address
from sampan.app.settings.up import UpSettings
from sampan.server.apiserver import ApiServer
from sampan.server.connections.listener import HttpServer
from sampan.server.request import Request, Response


class PagePort:
    """HTTP server of the page. Without `--dashboard-port` it does nothing."""

    def __init__(self, settings: UpSettings, api: ApiServer) -> None:
        self._settings = settings
        self._api = api
        self.port = settings.dashboard.port if api.dashboard is not None else 0
        self._http = HttpServer(self._handle, unread=api.metrics.unread) if self.port else None

    async def _handle(self, request: Request) -> Response:
        request.on_page_port = True
        return await self._api.handler(request)

    async def run(self) -> None:
        """Close idle connections until cancelled."""
        if self._http is None:
            await asyncio.Event().wait()
        else:
            await self._http.run()

    async def start_after(self, api: HttpServer, sock: socket.socket, context: ssl.SSLContext | None) -> None:
        """Serve the API on a bound socket, then the page on its port. Raises `StartError`."""
        await api.start(sock, context)
        if self._http is None:
            return
        bind = listen_address(self._settings)
        try:
            own = bind_socket(bind, self.port)
        except OSError as error:
            raise StartError(f"cannot listen on {bind}:{self.port} (--dashboard-port): {error.strerror}") from error
        await self._http.start(own, context)

    async def end(self) -> None:
        """Refuse connections, and end those that are open."""
        if self._http is not None:
            await self._http.stop_accepting()
            await self._http.close_streams()
            await self._http.drain(self._settings.drain_timeout_s)
