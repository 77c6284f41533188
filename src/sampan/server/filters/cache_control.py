"""Answers are private to their reader and must not be kept, unless a handler says otherwise.

Source: apiserver pkg/endpoints/filters/cachecontrol.go (1.36).
"""

from sampan.server.filters.hook import Hook
from sampan.server.request import Request, Response

_HEADER = (b"Cache-Control", b"no-cache, private")


def cache_control_hook() -> Hook:
    """Add `Cache-Control: no-cache, private` where none is set."""

    def after(request: Request, response: Response) -> None:
        headers = response.headers
        for header in headers:
            if header[0] == b"Cache-Control":
                return
        headers.append(_HEADER)

    return Hook(after=after)
