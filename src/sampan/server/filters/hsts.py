"""HSTS: the header with which browsers use only TLS for this server. Disabled by default.

Source: apiserver pkg/server/filters/hsts.go (1.36).
"""

from collections.abc import Sequence

from sampan.server.filters.hook import HandlerHook
from sampan.server.request import Request, Response

_NAME = b"Strict-Transport-Security"


def hsts_hook(directives: Sequence[str]) -> HandlerHook:
    """Return a hook that adds the header to all responses that do not have it."""
    if not directives:
        return HandlerHook()
    header = (_NAME, "; ".join(directives).encode())

    def after(request: Request, response: Response) -> None:
        if not any(name.lower() == _NAME.lower() for name, _ in response.headers):
            response.headers.append(header)

    return HandlerHook(after=after)
