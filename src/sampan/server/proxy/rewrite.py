"""`Rewriting`: rewrite the upstream's URLs so that clients reach them through the proxy.

Source: apimachinery pkg/util/proxy/transport.go (1.36).
"""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit, urlunsplit

from sampan.server.proxy.html import rewrite_links
from sampan.server.proxy.paths import without_dots
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Response

HTML_BYTES_MAX = 8 << 20
"""Maximum size in bytes of a document to rewrite. Larger ones (also when decompressed) are forwarded unchanged."""
_ENCODINGS = {"": 0, "gzip": 31, "deflate": -15}
"""Supported content encodings, and zlib's window bits for them."""


class Rewriting:
    """Rewriting of one response. `host` is the Host header of the client, `prefix` the path of the upstream's root."""

    def __init__(self, target: ProxyTarget, host: str, prefix: str) -> None:
        self._prefix = prefix
        self._host = host
        self._own = {target.netloc, host}
        if target.port == (443 if target.tls is not None else 80):
            self._own.add(target.netloc.rpartition(":")[0])

    def url(self, text: str) -> str:
        """Rewrite a URL of the upstream. Relative ones and those of other hosts stay unchanged."""
        try:
            parts = urlsplit(text)
        except ValueError:
            return text
        if (parts.netloc and parts.netloc not in self._own) or not parts.path.startswith("/"):
            return text
        if parts.netloc != self._host:
            parts = parts._replace(scheme="", netloc="")
        path = without_dots(parts.path)
        if path != self._prefix and not path.startswith(f"{self._prefix}/"):
            path = self._prefix + path
        return urlunsplit(parts._replace(path=path))


async def rewritten(response: Response, rewriting: Rewriting) -> Response:
    """Return an HTML response with its links rewritten.

    The body is buffered, unless it is too large or its encoding is not supported; then it is forwarded unchanged.
    """
    encoding = next((value.decode("latin-1") for name, value in response.headers if _is_encoding(name)), "")
    stream = response.stream
    if stream is None or encoding not in _ENCODINGS or (response.length or 0) > HTML_BYTES_MAX:
        return response
    held = bytearray()
    async for piece in stream:
        held += piece
        if len(held) > HTML_BYTES_MAX:
            response.stream = _chained(bytes(held), stream)
            return response
    body = await asyncio.to_thread(_rewrite, bytes(held), encoding, rewriting)
    response.stream, response.length = _chained(body, None), len(body)
    return response


def _is_encoding(name: bytes) -> bool:
    return name.lower() == b"content-encoding"


def _rewrite(body: bytes, encoding: str, rewriting: Rewriting) -> bytes:
    window_bits = _ENCODINGS[encoding]
    if not window_bits:
        return rewrite_links(body, rewriting.url)
    unpacker = zlib.decompressobj(window_bits)
    try:
        html = unpacker.decompress(body, HTML_BYTES_MAX)
    except zlib.error:
        return body
    if not unpacker.eof or unpacker.unused_data:
        return body
    html = rewrite_links(html, rewriting.url)
    if encoding == "gzip":
        return gzip.compress(html, 1, mtime=0)
    packer = zlib.compressobj(wbits=window_bits)
    return packer.compress(html) + packer.flush()


async def _chained(beginning: bytes, rest: AsyncIterator[bytes] | None) -> AsyncIterator[bytes]:
    if beginning:
        yield beginning
    if rest is not None:
        async for piece in rest:
            yield piece
