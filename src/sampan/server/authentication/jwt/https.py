"""`HttpsGet`: one GET over TLS, for the documents of an issuer.

Concurrency: a request runs in its caller's task, on a connection of its own that ends with it.
"""

import asyncio
import ssl
from urllib.parse import urlsplit

import httptools

from sampan.registry.webhook.answer import Answer, WebhookError

TIMEOUT_S = 30.0
_READ_BYTES = 1 << 16
_HTTPS_PORT = 443


class FetchError(Exception):
    """A document could not be had; the text says why."""


class HttpsGet:
    """Trusts the given CAs, or (with "") those of the system."""

    def __init__(self, ca_pem: str = "", timeout_s: float = TIMEOUT_S) -> None:
        self._ca_pem = ca_pem
        self._timeout_s = timeout_s
        self._tls: ssl.SSLContext | None = None

    async def __call__(self, url: str) -> bytes:
        """The body of a good answer (2xx); redirects are not followed. Raises `FetchError`."""
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._exchange(url)
        except TimeoutError:
            text = "context deadline exceeded"
        except (OSError, ValueError, httptools.HttpParserError, WebhookError) as error:
            text = str(error)
        raise FetchError(f'Get "{url}": {text}')

    async def _exchange(self, url: str) -> bytes:
        parts = urlsplit(url)
        if parts.scheme != "https" or not parts.hostname:
            raise ValueError("not an https URL")
        if self._tls is None:
            self._tls = ssl.create_default_context(cadata=self._ca_pem or None)
        port = parts.port or _HTTPS_PORT
        reader, writer = await asyncio.open_connection(
            parts.hostname, port, ssl=self._tls, server_hostname=parts.hostname
        )
        try:
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            writer.write(
                f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: sampan\r\n"
                "Accept: application/json\r\nConnection: close\r\n\r\n".encode()
            )
            return await _read(reader)
        finally:
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> bytes:
    answer = Answer()
    while not answer.complete:
        data = await reader.read(_READ_BYTES)
        if not data:
            answer.end()
            break
        answer.feed(data)
    return answer.checked()
