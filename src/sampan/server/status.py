"""Turn a `StatusError` into the answer that clients read."""

import orjson

from sampan.core.errors import StatusError
from sampan.server.media import media_of, written
from sampan.server.request import Headers, Request, Response

_NOSNIFF = (b"X-Content-Type-Options", b"nosniff")


def status_response(error: StatusError, request: Request | None = None) -> Response:
    """The `Status` in the form that the client accepts, with `Retry-After` where it should wait.

    It is JSON where the client accepts nothing that there is, so that this can be reported at all, and where the
    request could not be read (None).
    Source: apiserver pkg/endpoints/handlers/responsewriters/writers.go ErrorNegotiated (1.36).
    """
    headers: Headers = []
    retry_after_s = error.retry_after_s
    if retry_after_s > 0:
        headers.append((b"Retry-After", b"%d" % retry_after_s))
    if error.code == 403:
        headers.append(_NOSNIFF)
    response = _in_accepted_form(error, request)
    response.headers += headers
    return response


def _in_accepted_form(error: StatusError, request: Request | None) -> Response:
    body = orjson.dumps(error.to_status()) + b"\n"
    try:
        media = media_of(request, transforms=False) if request is not None else None
    except StatusError:
        media = None
    return Response(error.code, body) if media is None else written(media, body, error.code)


def text_response(status: int, text: str) -> Response:
    """Plain text, as Go's `http.Error` answers."""
    return Response(status, text.encode(), "text/plain; charset=utf-8", headers=[_NOSNIFF])


def json_response(value: object, status: int = 200) -> Response:
    """A JSON document."""
    return Response(status, orjson.dumps(value))
