"""`Routes`: the innermost handler. Resource requests go to their handler, the others to what is at their path."""

from sampan.core.errors import method_not_supported
from sampan.core.gvk import GroupResource
from sampan.server.request import Handler, Request, Response
from sampan.server.status import text_response

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_READ = frozenset({"GET", "HEAD"})


class Routes:
    """Paths outside the resources are few and known by name; a prefix ends with a slash."""

    def __init__(self, resources: Handler) -> None:
        self._resources = resources
        self._exact: dict[str, Handler] = {}
        self._prefixes: list[tuple[str, Handler]] = []
        self._listed: list[str] = []

    def add(self, path: str, handler: Handler, *, listed: bool = True) -> None:
        """Answer GET of a path (with or without a slash at its end)."""
        self._exact[path] = handler
        if listed:
            self._listed.append(path)

    def add_prefix(self, prefix: str, handler: Handler) -> None:
        """Answer GET of everything below `prefix`; the longest that fits wins."""
        self._prefixes.append((prefix, handler))
        self._prefixes.sort(key=lambda entry: -len(entry[0]))

    def paths(self) -> list[str]:
        """The paths that the index names."""
        return list(self._listed)

    async def handle(self, request: Request) -> Response:
        """The end of the chain."""
        info = request.info
        if request.method not in _METHODS and (request.method, info.subresource) != ("OPTIONS", "proxy"):
            raise method_not_supported(GroupResource(info.group, info.resource), request.method.lower())
        if info.is_resource:
            return await self._resources(request)
        handler = self._find(request.path)
        if handler is None:
            return not_found_page()
        if request.method not in _READ:
            raise method_not_supported(GroupResource("", ""), request.method.lower())
        return await handler(request)

    def _find(self, path: str) -> Handler | None:
        handler = self._exact.get(path) or self._exact.get(path.rstrip("/") or "/")
        if handler is None:
            for prefix, candidate in self._prefixes:
                if path.startswith(prefix):
                    return candidate
        return handler


def not_found_page() -> Response:
    """What Go's server answers for a path that leads nowhere."""
    return text_response(404, "404 page not found\n")
