"""Headers that a filter adds to every response, including errors."""

from sampan.server.filters.hook import HandlerHook
from sampan.server.request import Request, Response


def response_headers_hook() -> HandlerHook:
    """Return a hook that adds the headers in `Request.response_headers`."""

    def after(request: Request, response: Response) -> None:
        if request.response_headers:
            response.headers.extend(request.response_headers)

    return HandlerHook(after=after)
