"""`/`: the list of the paths that this server serves. Source: apiserver pkg/server/routes/index.go (1.36)."""

from collections.abc import Callable, Iterable

import orjson

from sampan.server.request import Handler, Request, Response


def index_handler(paths: Callable[[], Iterable[str]]) -> Handler:
    """Return a handler that lists `paths()`, sorted."""

    async def handle(request: Request) -> Response:
        document = {"paths": sorted(set(paths()))}
        return Response(200, orjson.dumps(document, option=orjson.OPT_INDENT_2))

    return handle
