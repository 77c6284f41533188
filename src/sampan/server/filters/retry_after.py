"""While the server shuts down, new streams are sent elsewhere: 429 with `Retry-After`.

Other requests are answered, where kube-apiserver refuses them: nobody is let in any more, and connections end soon.

Source: apiserver pkg/server/filters/with_retry_after.go (1.36).
"""

from sampan.server.filters.hook import Hook
from sampan.server.lifecycle import Lifecycle
from sampan.server.request import Request, Response

_MESSAGE = b"The apiserver is shutting down, please try again later."
RETRY_AFTER_S = 5


def retry_after_hook(lifecycle: Lifecycle) -> Hook:
    """Refuse new requests without an end of their own once `lifecycle.draining`."""

    def before(request: Request) -> Response | None:
        if not lifecycle.draining or not request.long_running:
            return None
        return Response(
            429,
            _MESSAGE,
            "text/plain; charset=utf-8",
            headers=[(b"Retry-After", b"%d" % RETRY_AFTER_S), (b"X-Content-Type-Options", b"nosniff")],
            close=True,
        )

    return Hook(before)
