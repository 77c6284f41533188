"""`StaleServer`: a server with an old state, from which the restarted operator reads for some time."""

from dataclasses import dataclass

from sampan.server.request import UserInfo
from sampan.testing.cluster import Cluster
from sampan.testing.explore.trial_points import OPERATOR
from sampan.testing.servers.in_process import InProcessTransport
from sampan.testing.servers.logical_server import LogicalServer, ServerSettings, template


@dataclass(slots=True)
class StaleServer:
    """Old state of one run. Nothing is kept before `keep`."""

    cluster: Cluster
    user: UserInfo
    """User of the operator."""
    view: InProcessTransport | None = None
    """Transport to the old state while the operator reads it."""
    _server: LogicalServer | None = None

    @property
    def is_unread(self) -> bool:
        """True if there is an old state that the operator does not read yet."""
        return self._server is not None and self.view is None

    async def keep(self) -> None:
        """Keep the current state."""
        server = await self.cluster.server()
        self._server = LogicalServer(server.store.fork(), template().parts, ServerSettings(server.settings.admission))

    async def show(self) -> None:
        """Let the operator read the old state."""
        assert self._server is not None
        await self._server.start()
        headers = {"authorization": f"Bearer {self._server.users.token_of(self.user)}", "user-agent": OPERATOR}
        self.view = InProcessTransport(self._server.api.handler, headers=headers)

    async def hide(self) -> None:
        """Let the operator read the current state: its watches of the old state end."""
        view, self.view = self.view, None
        if view is not None:
            await view.aclose()

    async def aclose(self) -> None:
        """Stop the server."""
        server, self._server = self._server, None
        if server is not None:
            await server.stop()
