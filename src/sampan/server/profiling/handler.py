"""`Profiling`: handlers of the paths below /debug/pprof. Only users with all rights may use them.

Source: apiserver pkg/server/routes/profiling.go (1.36).
"""

from sampan.http.pprof.endpoint import PREFIX, ProfileEndpoint
from sampan.server.request import Request, Response
from sampan.server.routes.routes import Routes


class Profiling:
    """Handlers of profiles. `install` adds them to the routes."""

    def __init__(self) -> None:
        self._endpoint = ProfileEndpoint()

    def install(self, routes: Routes) -> None:
        """Add the paths below `PREFIX`. The server's index does not list them."""
        for path in (PREFIX.rstrip("/"), PREFIX):
            routes.add(path, self._handle, listed=False)
        routes.add_prefix(PREFIX, self._handle)

    async def _handle(self, request: Request) -> Response:
        found = await self._endpoint.respond(request.wire.path, request.wire.param)
        headers = [(_header(name), value.encode()) for name, value in found.headers.items()]
        return Response(found.code, found.body, found.media_type, headers=headers)


def _header(name: str) -> bytes:
    """Return the name of a header as Go writes it."""
    return name.title().encode()
