"""gzip for large answers to clients that accept it.

Source: apiserver pkg/endpoints/handlers/responsewriters/writers.go (1.36).
"""

import asyncio

from isal import igzip

from sampan.server.request import Handler, Request, Response

SIZE_MIN_BYTES = 128 << 10
"""Smaller bodies are sent as they are."""
_HEADERS = [(b"Content-Encoding", b"gzip"), (b"Vary", b"Accept-Encoding")]


def with_compression(handler: Handler) -> Handler:
    """Compress bodies above 128 KiB, in a thread; take what a handler has compressed already."""

    async def filter_(request: Request) -> Response:
        response = await handler(request)
        if (len(response.body) > SIZE_MIN_BYTES or response.gzip_body is not None) and accepts_gzip(request):
            packed = response.gzip_body
            if packed is None:
                packed = await asyncio.to_thread(compress, response.body)
            response.body = packed
            response.headers += _HEADERS
        return response

    return filter_


def accepts_gzip(request: Request) -> bool:
    """Whether `Accept-Encoding` names gzip."""
    header = request.headers.get("accept-encoding", "")
    return "gzip" in header and any(part.split(";")[0].strip() == "gzip" for part in header.split(","))


def compress(body: bytes) -> bytes:
    """gzip at the fastest level; does not hold the interpreter lock."""
    packed: bytes = igzip.compress(body, 1, mtime=0)
    return packed
