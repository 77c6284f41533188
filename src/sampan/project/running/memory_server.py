"""`memory_server`: a server in this process with the control loops from Deployments to Pods, and its kubeconfig.

Concurrency: the server and the loops are tasks of the block, and end with it.
"""

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sampan.client import Client
from sampan.core.event_loop.task_scope import TaskScope
from sampan.operator import Manager, ManagerOptions
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.request import UserInfo
from sampan.testing.cluster_options import admission_of
from sampan.testing.control_loops.set_up import set_up_loops
from sampan.testing.control_loops.sets import chosen_loops
from sampan.testing.servers.in_process import InProcessTransport
from sampan.testing.servers.logical_server import LogicalServer, ServerSettings, template
from sampan.testing.servers.serve import serve

_ADMIN: Final = UserInfo("kubernetes-admin", groups=("system:masters",))
_LOOPS: Final = "chain"


@dataclass(frozen=True, slots=True)
class MemoryServer:
    """A server in this process."""

    kubeconfig: Path
    """For programs in other processes. It has all rights."""
    server: LogicalServer
    dashboard: str = ""
    """Line with a link to the dashboard, which logs in once."""

    def client(self, field_manager: str, user: UserInfo = _ADMIN) -> Client:
        """Return a client without sockets, which must be closed."""
        headers = {"authorization": f"Bearer {self.server.users.token_of(user)}", "user-agent": field_manager}
        return Client(InProcessTransport(self.server.api.handler, headers=headers), field_manager=field_manager)


@asynccontextmanager
async def memory_server(folder: Path) -> AsyncIterator[MemoryServer]:
    """Serve until the end of the block. The kubeconfig is in `folder`."""
    loops = chosen_loops(_LOOPS)
    made = template(virtual=False)
    server = LogicalServer(
        made.store.fork(), made.parts, ServerSettings(admission_of("", loops), dashboard=DashboardSettings())
    )
    await server.start()
    try:
        async with serve(server, _ADMIN) as served:
            content = served.kubeconfig.read_bytes()
            place, dashboard = _write_private(folder / "kubeconfig", content), server.api.dashboard
            link = "" if dashboard is None else dashboard.link_line(served.url.removeprefix("https://"), _ADMIN)
            running = MemoryServer(place, server, link)
            try:
                async with running.client("loops") as client, TaskScope() as tasks:
                    manager = Manager(client, ManagerOptions(graceful_shutdown_timeout_s=0.0, pausable=False))
                    set_up_loops(manager, (*loops.eager, *loops.lazy), 1)
                    tasks.begin(manager.run(), "loops")
                    yield running
            finally:
                if place.is_file() and place.read_bytes() == content:  # not that of a later server
                    place.unlink()
    finally:
        await server.stop()


def _write_private(place: Path, content: bytes) -> Path:
    """Write a file that only this user can read, in one step."""
    place.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=place.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.replace(name, place)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    return place
