"""Cross-origin requests of browsers, for origins that match a configured pattern. Off unless configured.

Source: apiserver pkg/server/filters/cors.go (1.36).
"""

from collections.abc import Sequence

import re2

from sampan.server.request import Filter, Handler, Headers, Request, Response

_ALLOW: Headers = [
    (b"Access-Control-Allow-Methods", b"POST, GET, OPTIONS, PUT, DELETE, PATCH"),
    (
        b"Access-Control-Allow-Headers",
        b"Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
    ),
    (b"Access-Control-Expose-Headers", b"Date"),
    (b"Access-Control-Allow-Credentials", b"true"),
]


def with_cors(patterns: Sequence[str]) -> Filter:
    """Allow the origins that one of the regular expressions finds a match in. Raises `ValueError` for a bad one."""
    try:
        allowed = [re2.compile(pattern) for pattern in patterns]
    except re2.error as error:
        raise ValueError(f"invalid CORS allowed origin: {error}") from error

    def wrap(handler: Handler) -> Handler:
        if not allowed:
            return handler

        async def filter_(request: Request) -> Response:
            origin = request.headers.get("origin")
            if not origin or not any(pattern.search(origin) for pattern in allowed):
                return await handler(request)
            headers = [(b"Access-Control-Allow-Origin", origin.encode("latin-1")), *_ALLOW]
            if request.method == "OPTIONS":
                return Response(204, content_type="", headers=headers)
            response = await handler(request)
            response.headers += headers
            return response

        return filter_

    return wrap
