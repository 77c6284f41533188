"""Conversion of a `StatusError` to a response."""

import orjson

from sampan.core.errors import Reason, StatusError, without_html
from sampan.core.field import quote
from sampan.server.media import media_of, written
from sampan.server.request import Headers, Request, Response

NOSNIFF = (b"X-Content-Type-Options", b"nosniff")


def status_response(error: StatusError, request: Request | None = None) -> Response:
    """Return the `Status` in the media type that the client accepts, with `Retry-After` if the client must wait.

    The format is JSON if the client accepts no served media type, or if the request could not be read (None).

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
    """Return plain text, as Go's `http.Error` does."""
    return Response(status, text.encode(), "text/plain; charset=utf-8", headers=[NOSNIFF])


def not_found_page() -> Response:
    """Return the response of Go's server for an unknown path."""
    return text_response(404, "404 page not found\n")


def internal_error_page(target: str, why: str) -> Response:
    """Return the response for a request that cannot be parsed or authorized because of an internal error.

    Source: apiserver pkg/endpoints/handlers/responsewriters/errors.go InternalError (1.36).
    """
    return text_response(500, without_html(f"Internal Server Error: {quote(target)}: {why}\n"))


def unreadable(error: StatusError, raw_target: bytes) -> Response:
    """Return the response to a request with a malformed target. Source: also Go's net/http."""
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
    """Return a JSON document."""
    return Response(status, orjson.dumps(value))
