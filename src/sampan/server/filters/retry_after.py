"""While the server shuts down, new requests are sent elsewhere: 429 with `Retry-After`.

Source: apiserver pkg/server/filters/with_retry_after.go (1.36).
"""

from sampan.server.lifecycle import Lifecycle
from sampan.server.request import Filter, Handler, Request, Response

_MESSAGE = b"The apiserver is shutting down, please try again later."
_EXEMPT = ("/readyz", "/livez", "/healthz", "/metrics")
RETRY_AFTER_S = 5


def with_retry_after(lifecycle: Lifecycle) -> Filter:
    """Refuse new requests once `lifecycle.draining`, but for health and metrics."""

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            if not lifecycle.draining or request.path.startswith(_EXEMPT):
                return await handler(request)
            return Response(
                429,
                _MESSAGE,
                "text/plain; charset=utf-8",
                headers=[(b"Retry-After", b"%d" % RETRY_AFTER_S), (b"X-Content-Type-Options", b"nosniff")],
                close=True,
            )

        return filter_

    return wrap
