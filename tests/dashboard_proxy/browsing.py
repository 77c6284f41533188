"""`Browsing`: a browser's view of a `DashboardProxy` on a real socket, in front of a scripted cluster."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from sampan.client import Config
from sampan.client.identity import Impersonation
from sampan.dashboard_proxy import ClusterConnection, ClusterUser, DashboardProxy, ProxyPage
from sampan.server.connections.listener import HttpServer
from sampan.server.connections.settings import HttpSettings
from sampan.server.request import UserInfo
from tests.server.proxy.upstream import Respond, Upstream, upstream

PODS = "/api/v1/namespaces/default/pods"
SESSION = "/dashboard/session"
PAGE = {"X-Sampan-Page": "1", "Sec-Fetch-Site": "same-origin"}
TOKEN = "secret-of-the-kubeconfig"
JANE = UserInfo("jane", groups=("team",))


@dataclass
class Browsing:
    """A browser, the proxy and the cluster behind it."""

    proxy: DashboardProxy
    cluster: Upstream
    http: httpx.AsyncClient
    port: int
    codes: list[str] = field(default_factory=list)
    """Codes of the links that were announced."""

    async def log_in(self) -> "Browsing":
        """Log in with a link."""
        self.proxy.announce_link()
        reply = await self.http.post(SESSION, json={"link": self.codes[-1]}, headers=PAGE)
        assert reply.status_code == 201, reply.text
        return self

    async def get(self, target: str = PODS, **headers: str) -> httpx.Response:
        """GET as a script of the page."""
        return await self.send("GET", target, **headers)

    async def send(self, method: str, target: str, body: Any = None, **headers: str) -> httpx.Response:
        """Send a request as a script of the page."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.request(method, target, json=body, headers={**PAGE, **named})

    @property
    def cookie(self) -> str:
        """Return the header with the session's cookie."""
        return "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())

    async def opened(self, head: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send the head of a request with the cookie on a connection, which the caller closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        own = f"Host: 127.0.0.1:{self.port}\r\nCookie: {self.cookie}\r\n"
        writer.write(f"{head}\r\n{own}\r\n".encode())
        await writer.drain()
        return reader, writer


@asynccontextmanager
async def browsing(respond: Respond, **options: Any) -> AsyncIterator[Browsing]:
    """Serve a proxy in the block. The cluster responds by a function."""
    async with upstream(respond) as cluster:
        config = Config(
            f"http://127.0.0.1:{cluster.port}/base", token=TOKEN, context="shop", impersonation=Impersonation("jane")
        )
        connection, codes = ClusterConnection.of(config, **options), list[str]()
        page = ProxyPage(announce=codes.append)
        proxy = DashboardProxy(connection, ClusterUser(JANE, "v1.36.0"), page)
        server = HttpServer(proxy.handle, HttpSettings(write_timeout_s=5.0, sweep_interval_s=0.2))
        sock = socket.socket()
        sock.bind(("127.0.0.1", 0))
        running = [asyncio.ensure_future(server.run()), asyncio.ensure_future(proxy.run())]
        await server.start(sock, None)
        port = sock.getsockname()[1]
        try:
            async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as http:
                yield Browsing(proxy, cluster, http, port, codes)
        finally:
            for task in running:
                task.cancel()
            await server.stop_accepting()
            await server.close_streams()
            await server.drain(5)
            await connection.aclose()
