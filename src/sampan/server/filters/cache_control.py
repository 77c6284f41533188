"""Answers are private to their reader and must not be kept, unless a handler says otherwise.

Source: apiserver pkg/endpoints/filters/cachecontrol.go (1.36).
"""

from sampan.server.request import Handler, Request, Response

_HEADER = (b"Cache-Control", b"no-cache, private")


def with_cache_control(handler: Handler) -> Handler:
    """Add `Cache-Control: no-cache, private` where none is set."""

    async def filter_(request: Request) -> Response:
        response = await handler(request)
        headers = response.headers
        for name, _ in headers:
            if name == b"Cache-Control":
                return response
        headers.append(_HEADER)
        return response

    return filter_
