"""One HTTPS request to a webhook: JSON there and back, on a connection of its own.

Concurrency: `post` runs in its caller's task; the connection ends with it, also when it is cancelled. The answer is
bounded by `ANSWER_SIZE_BYTES_MAX`, the time by `timeout_s`.
Source: apiserver pkg/util/webhook/client.go, client-go rest/request.go (1.36).
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Protocol

import httptools

from sampan.core.field import quote
from sampan.registry.webhook.services import Resolve, ServiceError
from sampan.registry.webhook.target import Target

ANSWER_SIZE_BYTES_MAX = 32 << 20
_READ_BYTES = 1 << 16
_UNTRUSTED = frozenset({18, 19, 20, 21})
"""OpenSSL's codes for certificates whose CA is not known."""


class WebhookError(Exception):
    """A webhook could not be asked, or gave no answer that counts. The text is for the client."""


class Webhook(Protocol):
    """Asks one webhook."""

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """Send a JSON body; gives the body of the answer. Raises `WebhookError`."""
        ...


Connect = Callable[[Target], Webhook]
"""Gives the webhook at a target."""


class HttpsWebhook:
    """A webhook behind TLS. `resolve` finds the pods of services."""

    def __init__(self, target: Target, resolve: Resolve) -> None:
        self._target = target
        self._resolve = resolve
        self._tls: ssl.SSLContext | None = None

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """See `Webhook.post`."""
        query = f"timeout={timeout_s:g}s"
        try:
            async with asyncio.timeout(timeout_s):
                return (await self._exchange(body, query)).checked()
        except TimeoutError:
            raise self._failure(query, "context deadline exceeded") from None
        except ServiceError as error:
            raise self._failure(query, str(error)) from None
        except ssl.SSLError as error:
            raise self._failure(query, _tls_text(error)) from None
        except OSError as error:
            raise self._failure(query, _os_text(error)) from None
        except httptools.HttpParserError as error:
            raise self._failure(query, f"net/http: HTTP/1.x transport connection broken: {error}") from None

    def _failure(self, query: str, text: str) -> WebhookError:
        return WebhookError(f"Post {quote(self._target.url(query))}: {text}")

    async def _exchange(self, body: bytes, query: str) -> "_Answer":
        target = self._target
        host, port = target.host, target.port
        if target.service is not None:
            host, port = self._resolve(target.service.namespace, target.service.name, target.port)
        if self._tls is None:
            self._tls = ssl.create_default_context(cadata=target.ca_pem or None)
        try:
            reader, writer = await asyncio.open_connection(host, port, ssl=self._tls, server_hostname=target.host)
        except socket.gaierror:
            raise self._failure(query, f"dial tcp: lookup {host}: no such host") from None
        except ConnectionRefusedError:
            raise self._failure(query, f"dial tcp {host}:{port}: connect: connection refused") from None
        try:
            writer.write(_head(target, query, len(body)) + body)
            await writer.drain()
            return await _read(reader)
        finally:
            writer.transport.abort()


def _head(target: Target, query: str, length: int) -> bytes:
    return (
        f"POST {target.path_with(query)} HTTP/1.1\r\nHost: {target.authority}\r\nUser-Agent: sampan\r\n"
        f"Content-Length: {length}\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
        "Connection: close\r\n\r\n"
    ).encode()


async def _read(reader: asyncio.StreamReader) -> "_Answer":
    answer = _Answer()
    while not answer.complete:
        data = await reader.read(_READ_BYTES)
        if not data:
            answer.end()
            break
        answer.feed(data)
    return answer


class _Answer:
    """An HTTP response as it comes in."""

    def __init__(self) -> None:
        self.complete = False
        self._status = 0
        self._chunks: list[bytes] = []
        self._size_bytes = 0
        self._until_close = True
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Bytes of the response. Raises `WebhookError` when there are too many."""
        self._parser.feed_data(data)
        if self._size_bytes > ANSWER_SIZE_BYTES_MAX:
            raise WebhookError(f"the answer is larger than {ANSWER_SIZE_BYTES_MAX} bytes")

    def end(self) -> None:
        """The connection has ended; that is the end of a body whose length was not said. Raises `WebhookError`."""
        if not self._status or not self._until_close:
            raise WebhookError("unexpected EOF")

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() in (b"content-length", b"transfer-encoding"):
            self._until_close = False

    def on_headers_complete(self) -> None:
        self._status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self._size_bytes += len(body)
        if self._size_bytes <= ANSWER_SIZE_BYTES_MAX:
            self._chunks.append(body)

    def on_message_complete(self) -> None:
        self.complete = self._status >= 200

    def checked(self) -> bytes:
        """The body of a good answer. Raises `WebhookError`."""
        body, status = b"".join(self._chunks), self._status
        if 200 <= status < 300:
            return body
        if status == 404:
            raise WebhookError("the server could not find the requested resource")
        if status >= 500:
            shown = body[:2048].decode("utf-8", "replace").strip() or "unknown"
            raise WebhookError(f"an error on the server ({quote(shown)}) has prevented the request from succeeding")
        raise WebhookError(f"the server rejected our request for an unknown reason (status {status})")


def _os_text(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _tls_text(error: ssl.SSLError) -> str:
    if not isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: {(error.reason or str(error)).lower().replace('_', ' ')}"
    if error.verify_code in _UNTRUSTED:
        return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    return f"tls: failed to verify certificate: x509: {error.verify_message}"
