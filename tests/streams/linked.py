"""A tunnel of a node whose targets are ports of this machine."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sampan.core.event_loop.task_scope import TaskScope
from sampan.http.tunnel import Tunnel
from sampan.streams.errors import StreamRefused
from sampan.streams.session import StreamSession
from sampan.streams.splice import Splice
from sampan.streams.tunnels import NodeTunnels
from tests.streams.sessions import connect_local, tunnels


@dataclass
class Linked:
    """The node's end of a tunnel. `ports` are the ports of this machine by target; other targets are refused."""

    ports: Mapping[str, int]
    targets: list[str] = field(default_factory=list)
    """Requested targets."""
    session: StreamSession | None = None

    async def connect(self, target: str, make: Callable[[], Splice]) -> None:
        self.targets.append(target)
        if target not in self.ports:
            raise StreamRefused("not here")
        await connect_local(str(self.ports[target]), make)


def connecting(tunnel: Tunnel, ports: Mapping[str, int]) -> StreamSession:
    """Return the node's end of a tunnel that leads to these ports of this machine, by target."""
    return StreamSession(tunnel, name="server", connect=Linked(ports).connect)


@asynccontextmanager
async def linked(to: NodeTunnels, node: str, ports: Mapping[str, int]) -> AsyncIterator[Linked]:
    """Open a tunnel of a node."""
    near, far, server = await tunnels()
    found = Linked(ports)
    found.session = StreamSession(far, name="server", connect=found.connect)
    async with TaskScope() as tasks:
        tasks.begin(to.serve(node, near))
        tasks.begin(found.session.run())
        while to.newest(node) is None:  # noqa: ASYNC110 - a turn later it is there
            await asyncio.sleep(0)
        yield found
    server.close()
