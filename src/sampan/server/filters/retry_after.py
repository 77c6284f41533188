"""Return 429 with `Retry-After` to new requests during graceful shutdown, so that clients use another server.

Source: apiserver pkg/server/filters/with_retry_after.go (1.36).
"""

from sampan.server.filters.hook import HandlerHook
from sampan.server.health.lifecycle import LifecycleSignals
from sampan.server.request import Request, Response

_MESSAGE = b"The apiserver is shutting down, please try again later."
_EXEMPT = ("/readyz", "/livez", "/healthz", "/metrics")
RETRY_AFTER_S = 5


def retry_after_hook(lifecycle: LifecycleSignals) -> HandlerHook:
    """Return a hook that refuses requests after `lifecycle.draining`, except those for health and metrics."""

    def before(request: Request) -> Response | None:
        if not lifecycle.draining or request.wire.path.startswith(_EXEMPT):
            return None
        return Response(
            429,
            _MESSAGE,
            "text/plain; charset=utf-8",
            headers=[(b"Retry-After", b"%d" % RETRY_AFTER_S), (b"X-Content-Type-Options", b"nosniff")],
            close=True,
        )

    return HandlerHook(before)
