"""429 response to a refused request."""

from sampan.server.request import Response

_TEXT = b"Too many requests, please try again later.\n"


def too_many_requests(retry_after_s: int) -> Response:
    """Return the response, with Retry-After in seconds."""
    headers = [(b"Retry-After", b"%d" % retry_after_s), (b"X-Content-Type-Options", b"nosniff")]
    return Response(429, _TEXT, "text/plain; charset=utf-8", headers)
