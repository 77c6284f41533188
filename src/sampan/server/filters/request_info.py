"""Refuse paths that begin as an API path and mean nothing; what a good path means, the edge has read already."""

from sampan.core.errors import internal_error
from sampan.server.request import Handler, Request, Response
from sampan.server.request_info import is_long_running, request_info


def with_request_info(handler: Handler) -> Handler:
    """Make sure `request.info` is there. Transports with a target cache fill it in beforehand."""

    async def filter_(request: Request) -> Response:
        if not request.info.path:
            info = request_info(request.method, request.path, request.query)
            if info is None:
                raise internal_error(f"unable to determine kind and namespace from url, {request.path}")
            request.info = info
            request.long_running = is_long_running(info)
        return await handler(request)

    return filter_
