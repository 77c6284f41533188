"""Turn a `StatusError` into the answer that clients read."""

import orjson

from sampan.core.errors import Reason, StatusError, without_html
from sampan.core.field import quote
from sampan.server.media import media_of, written
from sampan.server.request import Headers, Request, Response

NOSNIFF = (b"X-Content-Type-Options", b"nosniff")


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
    return Response(status, text.encode(), "text/plain; charset=utf-8", headers=[NOSNIFF])


def not_found_page() -> Response:
    """What Go's server answers for a path that leads nowhere."""
    return text_response(404, "404 page not found\n")


def internal_error_page(target: str, why: str) -> Response:
    """What is answered when it cannot be found out what was asked, or whether it may be.

    Source: apiserver pkg/endpoints/handlers/responsewriters/errors.go InternalError (1.36).
    """
    return text_response(500, without_html(f"Internal Server Error: {quote(target)}: {why}\n"))


def unreadable(error: StatusError, raw_target: bytes) -> Response:
    """The answer to a request whose target means nothing. Source: also Go's net/http."""
    if error.code == 400:
        response = text_response(400, "400 Bad Request")
        response.headers.clear()
        response.close = True
        return response
    target = raw_target.decode("latin-1")
    why = f"failed to create RequestInfo: unable to determine kind and namespace from url, {target}"
    return internal_error_page(target, why)


def not_produced(produces: str) -> StatusError:
    """Return the 406 for a path that has other representations. Source: go-restful curly.go (3.12)."""
    text = f"406: Not Acceptable\n\nAvailable representations: {produces}"
    return StatusError(Reason.NOT_ACCEPTABLE, 406, text, details={})


def json_response(value: object, status: int = 200) -> Response:
    """A JSON document."""
    return Response(status, orjson.dumps(value))
