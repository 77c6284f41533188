"""Turn a `StatusError` into the answer that clients read."""

import orjson

from sampan.core.errors import StatusError
from sampan.server.request import Headers, Response

_NOSNIFF = (b"X-Content-Type-Options", b"nosniff")


def status_response(error: StatusError) -> Response:
    """The `Status` as JSON, with `Retry-After` where the client should wait.

    Errors are JSON whatever the client accepts, so that a refused media type can be reported at all.
    Source: apiserver pkg/endpoints/handlers/responsewriters/writers.go ErrorNegotiated (1.36).
    """
    headers: Headers = []
    retry_after_s = error.retry_after_s
    if retry_after_s > 0:
        headers.append((b"Retry-After", b"%d" % retry_after_s))
    if error.code == 403:
        headers.append(_NOSNIFF)
    return Response(error.code, orjson.dumps(error.to_status()) + b"\n", headers=headers)


def text_response(status: int, text: str) -> Response:
    """Plain text, as Go's `http.Error` answers."""
    return Response(status, text.encode(), "text/plain; charset=utf-8", headers=[_NOSNIFF])


def json_response(value: object, status: int = 200) -> Response:
    """A JSON document."""
    return Response(status, orjson.dumps(value))
