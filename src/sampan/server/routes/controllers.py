"""/debug/controllers: the controllers that run next to this server, their queues and the last reconciles of objects.

A path outside resources, which RBAC allows by its name: `get` on the nonResourceURL /debug/controllers.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from sampan.core import errors
from sampan.server.request import Request, Response
from sampan.server.routes.routes import Routes
from sampan.server.status import text_response

PATH: Final = "/debug/controllers"
_NOTHING: Final = b'{"reporter":"","leads":false,"controllers":[]}'
_NOT_STORED: Final = (b"Cache-Control", b"no-store")

ReportSource = Callable[[str, str], Awaitable[tuple[int, bytes, str]]]
"""Receives the query and the ETag that the client has. Returns code, body and ETag. Raises `NoReports`."""


class NoReports(Exception):
    """No controllers run next to this server, or they do not respond. The message is for the client."""


class ControllersRoute:
    """The path, and the source of its content."""

    def __init__(self, source: ReportSource | None) -> None:
        self.source = source
        """None: no controllers run next to this server, so the report is empty."""

    def install(self, routes: Routes) -> None:
        """Add the path. The server's index does not list it."""
        routes.add(PATH, self._handle, listed=False)

    async def _handle(self, request: Request) -> Response:
        if request.wire.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        if self.source is None:
            return Response(200, _NOTHING, headers=[_NOT_STORED])
        try:
            etag = request.headers.get("if-none-match", "")
            code, body, tag = await self.source(request.wire.query_string, etag)
        except NoReports as error:
            return text_response(503, f"{error}\n")
        media_type = "application/json" if code == 200 else "text/plain; charset=utf-8"
        headers = [_NOT_STORED, *([(b"ETag", tag.encode())] if tag else [])]
        return Response(code, body, media_type, headers=headers)
