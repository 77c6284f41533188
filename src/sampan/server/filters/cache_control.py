"""`Cache-Control` header: responses must not be cached, unless a handler sets the header.

Source: apiserver pkg/endpoints/filters/cachecontrol.go (1.36).
"""

from sampan.server.filters.hook import HandlerHook
from sampan.server.request import Request, Response

_HEADER = (b"Cache-Control", b"no-cache, private")


def cache_control_hook() -> HandlerHook:
    """Return a hook that adds `Cache-Control: no-cache, private` if the header is missing."""

    def after(request: Request, response: Response) -> None:
        headers = response.headers
        for header in headers:
            if header[0] == b"Cache-Control":
                return
        headers.append(_HEADER)

    return HandlerHook(after=after)
