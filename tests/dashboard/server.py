"""`DashboardServer`: an API server with the page, in a thread with an event loop, for a browser.

Concurrency: the thread owns the event loop, the cluster and the listener. Other threads use the address only.
"""

import asyncio
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
from scripts.web.places import ROOT, TARGET

from sampan.server.request import UserInfo
from sampan.testing.cluster import Cluster
from sampan.testing.cluster_options import ClusterOptions
from sampan.testing.servers.serve import serve
from tests.dashboard.shell import Shell

ADMIN: Final = UserInfo("system:admin", groups=("system:masters", "system:authenticated"))
_START_S: Final = 60


class DashboardServer:
    """A server that runs."""

    def __init__(self, loops: str, nodes: int) -> None:
        self._options = ClusterOptions(loops=loops, nodes=nodes, virtual=False)
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="dashboard server")
        self.shell: Shell
        self.address = ""
        """Address of the server, without a slash at the end."""
        self._loop: asyncio.AbstractEventLoop
        self._end: asyncio.Event

    def start(self) -> None:
        """Start, and wait until the server serves."""
        self._thread.start()
        if not self._ready.wait(_START_S) or self._error is not None:
            raise RuntimeError("the server did not start") from self._error

    def stop(self) -> None:
        """End the server, and wait for the end."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        async with Cluster(self._options) as cluster:
            server = await cluster.server()
            self.shell = Shell(ROOT / TARGET, server.users, ADMIN)
            async with serve(server, ADMIN, self.shell.around) as served:
                self.address = served.url
                self.http = httpx.Client(
                    base_url=served.url,
                    verify=ssl.create_default_context(cadata=served.authority.decode()),
                    headers={"Authorization": f"Bearer {served.token}"},
                    timeout=60,
                )
                self._ready.set()
                await self._end.wait()
                self.http.close()

    def create(self, path: str, *objects: dict[str, Any]) -> list[dict[str, Any]]:
        """Create objects below a path of the API, and return them."""
        created = []
        for each in objects:
            response = self.http.post(path, json=each)
            assert response.status_code in (200, 201), response.text
            created.append(response.json())
        return created

    def patch(self, path: str, change: dict[str, Any]) -> dict[str, Any]:
        """Merge a change into an object."""
        response = self.http.patch(path, json=change, headers={"Content-Type": "application/merge-patch+json"})
        assert response.status_code == 200, response.text
        patched: dict[str, Any] = response.json()
        return patched

    def delete(self, path: str) -> None:
        """Delete an object."""
        response = self.http.delete(path)
        assert response.status_code in (200, 202), response.text


@contextmanager
def dashboard_server(loops: str = "none", nodes: int = 1) -> Iterator[DashboardServer]:
    """Serve an empty cluster with the page in the block."""
    server = DashboardServer(loops, nodes)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def picture_folder() -> Path:
    """Return the folder of the pictures that tests take; Git ignores it."""
    folder = ROOT / "build" / "dashboard-screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
