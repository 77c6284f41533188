"""Static content with ETag and ranges, as Go's http.ServeContent serves it."""

import re
from typing import Final

from sampan.core.numbers.integers import INT64_MAX, integer_or
from sampan.server.compression import accepts_gzip
from sampan.server.request import Headers, Request, Response
from sampan.server.status import text_response

_RANGE: Final = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


def content(
    request: Request, body: bytes, content_type: str, headers: Headers, etag: str = "", *, packed: bytes | None = None
) -> Response:
    """Return 200; 304 if the client has the content; 206 or 416 for one range.

    Several ranges, and a range of compressed content, get the whole content. `etag` is quoted. `packed` is the content
    compressed with gzip.
    """
    if etag:
        headers = [(b"Etag", etag.encode()), *headers]
    tags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if "*" in tags or (etag and etag in tags):
        return Response(304, content_type="", headers=headers)
    requested = request.headers.get("range", "")
    if (
        not requested
        or "," in requested
        or accepts_gzip(request.headers)
        or request.headers.get("if-range", etag) != etag
    ):
        return Response(200, body, content_type, [(b"Accept-Ranges", b"bytes"), *headers], gzip_body=packed)
    return _part(requested, body, content_type, headers)


def _part(requested: str, body: bytes, content_type: str, headers: Headers) -> Response:
    size = len(body)
    found = _RANGE.fullmatch(requested)
    first, last = (_offset(text) for text in (found.groups() if found is not None else ("", "")))
    if (first is None and last is None) or (first is not None and last is not None and last < first):
        return _no_part("invalid range\n", [pair for pair in headers if pair[0] != b"Etag"])
    start = max(size - (last or 0), 0) if first is None else first
    end = size if first is None or last is None else min(last + 1, size)
    if start >= size:
        kept = [pair for pair in headers if pair[0] != b"Etag"]
        return _no_part("invalid range: failed to overlap\n", [(b"Content-Range", b"bytes */%d" % size), *kept])
    where = (b"Content-Range", b"bytes %d-%d/%d" % (start, end - 1, size))
    return Response(206, body[start:end], content_type, [(b"Accept-Ranges", b"bytes"), where, *headers])


def _offset(text: str) -> int | None:
    return integer_or(text, INT64_MAX) if text else None


def _no_part(text: str, headers: Headers) -> Response:
    response = text_response(416, text)
    response.headers += headers
    return response
