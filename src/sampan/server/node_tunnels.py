"""`/node-tunnels/NAME`: a node opens a tunnel to this server, by an upgrade of its request.

After the upgrade the server is the HTTP/2 client of the connection (`streams/session.py`). The node decides about the
targets, so that this server cannot use it to reach anything but the node's Pods and its own server.
"""

from sampan.core.errors import StatusError, bad_request, forbidden, not_found
from sampan.core.gvk import GroupResource
from sampan.http.tunnel import Tunnel
from sampan.registry.strategy import ObjectReader
from sampan.server.authorization.node.authorizer import node_of
from sampan.server.proxy.headers import upgrade_of
from sampan.server.request import Request, Response
from sampan.streams.tunnels import PATH, UPGRADE, NodeTunnels

_NODES = GroupResource("", "nodes")


class TunnelEndpoint:
    """Handler of the path."""

    def __init__(self, tunnels: NodeTunnels, reader: ObjectReader) -> None:
        self._tunnels = tunnels
        self._reader = reader

    async def handle(self, request: Request) -> Response:
        """Return the 101 response of a tunnel. Raises `StatusError`: 400, 403 for another node, 404 without a Node.

        The authorizers allow a node only its own path. Roles can allow other users any path, but no node: it must never
        get the requests to the Pods of another one.
        """
        name = request.wire.path.removeprefix(PATH)
        own = node_of(request.user) if request.user is not None else ""
        if own not in ("", name):
            raise forbidden(_NODES, name, f"node {own!r} cannot open a tunnel of another node")
        if upgrade_of(request.headers) != UPGRADE:
            raise _no_upgrade()
        if not name or self._reader.get("", "nodes", "", name) is None:
            raise not_found(_NODES, name)

        async def takeover(tunnel: Tunnel) -> None:
            await self._tunnels.serve(name, tunnel)

        response = Response(101, content_type="", takeover=takeover)
        response.headers += [(b"Upgrade", UPGRADE.encode()), (b"Connection", b"Upgrade")]
        response.patient = True
        return response


def _no_upgrade() -> StatusError:
    return bad_request(f"an upgrade to {UPGRADE} is required")
