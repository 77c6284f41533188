"""`Routes`: the innermost handler. It routes resource requests to their handler, and other requests by path."""

from collections.abc import Awaitable

from sampan.core import errors
from sampan.server.request import Handler, Request, Response
from sampan.server.status import not_found_page, not_produced


class Routes:
    """Routing table for paths outside resources. A prefix ends with a slash."""

    def __init__(self, resources: Handler) -> None:
        self._resources = resources
        self._exact: dict[str, Handler] = {}
        self._services: dict[str, tuple[Handler, str]] = {}
        self._prefixes: list[tuple[str, Handler]] = []
        self._listed: list[str] = []

    def add(self, path: str, handler: Handler, *, listed: bool = True) -> None:
        """Route a path, for all methods."""
        self._exact[path] = handler
        if listed:
            self._listed.append(path)

    def add_service(self, path: str, handler: Handler, produces: str = "application/json") -> None:
        """Route GET of a path, with or without a trailing slash.

        Other methods are refused with 405, and clients that do not accept `produces` with 406.
        """
        self._services[path] = handler, produces
        self._listed.append(path)

    def add_prefix(self, prefix: str, handler: Handler) -> None:
        """Route everything below `prefix`, for all methods. The longest prefix wins."""
        self._prefixes.append((prefix, handler))
        self._prefixes.sort(key=lambda entry: -len(entry[0]))

    def paths(self) -> list[str]:
        """Return the paths for the index."""
        return list(self._listed)

    def handle(self, request: Request) -> Awaitable[Response]:
        """Handle a request at the end of the filter chain."""
        return self._resources(request) if request.info.is_resource else self._handle_path(request)

    async def _handle_path(self, request: Request) -> Response:
        path = request.wire.path
        service = self._services.get(path.removesuffix("/"))
        if service is not None:
            serve, produces = service
            if request.wire.method != "GET":
                raise errors.method_not_allowed()
            if not _accepts(request.headers.get("accept", ""), produces):
                raise not_produced(produces)
            return await serve(request)
        handler = self._exact.get(path)
        if handler is None:
            handler = next((found for prefix, found in self._prefixes if path.startswith(prefix)), None)
        return not_found_page() if handler is None else await handler(request)


def _accepts(accept: str, produces: str) -> bool:
    """Return True if an `Accept` header contains the media type or `*/*`, with any weight. Source: go-restful route.go
    (3.12).
    """
    names = {part.partition(";")[0].strip() for part in accept.split(",")}
    return not accept or produces in names or "*/*" in names
