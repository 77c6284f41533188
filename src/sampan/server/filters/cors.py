"""CORS: cross-origin requests of browsers, from origins that match a configured pattern. Disabled by default.

Source: apiserver pkg/server/filters/cors.go (1.36).
"""

from collections.abc import Sequence

from sampan.schema.regex.engine import Regex, compile_regex
from sampan.server.filters.hook import HandlerHook
from sampan.server.request import Headers, Request, Response

_ALLOW: Headers = [
    (b"Access-Control-Allow-Methods", b"POST, GET, OPTIONS, PUT, DELETE, PATCH"),
    (
        b"Access-Control-Allow-Headers",
        b"Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, "
        b"If-Modified-Since",
    ),
    (b"Access-Control-Expose-Headers", b"Date"),
    (b"Access-Control-Allow-Credentials", b"true"),
]


def compile_origins(patterns: Sequence[str]) -> list[Regex]:
    """Compile the regular expressions. Raises `ValueError` for an invalid one."""
    try:
        return [compile_regex(pattern) for pattern in patterns]
    except ValueError as error:
        raise ValueError(f"invalid CORS allowed origin: {error}") from None


def cors_hook(patterns: Sequence[str]) -> HandlerHook:
    """Return a hook that allows origins in which a regular expression finds a match. Raises `ValueError` for an invalid
    one.
    """
    allowed = compile_origins(patterns)
    if not allowed:
        return HandlerHook()

    def headers_for(request: Request) -> Headers | None:
        origin = request.headers.get("origin")
        if not origin or not any(pattern.accepts(origin) for pattern in allowed):
            return None
        return [(b"Access-Control-Allow-Origin", origin.encode("latin-1")), *_ALLOW]

    def before(request: Request) -> Response | None:
        if request.wire.method == "OPTIONS" and headers_for(request) is not None:
            return Response(204, content_type="")
        return None

    def after(request: Request, response: Response) -> None:
        headers = headers_for(request)
        if headers is not None:
            response.headers += headers

    return HandlerHook(before, after)
