"""HTTPS requests to webhooks: JSON there and back, on connections that are kept.

Concurrency: `post` runs in its caller's task and has a connection of its own meanwhile; cancelled, it closes it. The
answer is bounded by `ANSWER_SIZE_BYTES_MAX`, the time by `timeout_s`. `WebhookClients` owns the idle connections.
Source: apiserver pkg/util/webhook/client.go, client-go rest/request.go (1.36).
"""

import asyncio
import math
import socket
import ssl
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

import httptools

from sampan.core.field import quote
from sampan.core.tracing import trace_headers
from sampan.registry.webhook.answer import ANSWER_SIZE_BYTES_MAX, Answer, WebhookError
from sampan.registry.webhook.connections import Connection, Connections
from sampan.registry.webhook.credentials import NO_CREDENTIALS, Credentials
from sampan.registry.webhook.services import Resolve, ServiceError
from sampan.registry.webhook.target import Target

__all__ = ["ANSWER_SIZE_BYTES_MAX", "Connect", "HttpsWebhook", "Webhook", "WebhookClients", "WebhookError"]

_READ_BYTES = 1 << 16
_CLIENTS_MAX = 100
_UNTRUSTED = frozenset({18, 19, 20, 21})
"""OpenSSL's codes for certificates whose CA is not known."""


class Webhook(Protocol):
    """Asks one webhook."""

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """Send a JSON body; gives the body of the answer. Raises `WebhookError`."""
        ...


Connect = Callable[[Target], Webhook]
"""Gives the webhook at a target."""


class HttpsWebhook:
    """A webhook behind TLS. `resolve` finds the pods of services."""

    def __init__(self, target: Target, resolve: Resolve, credentials: Credentials = NO_CREDENTIALS) -> None:
        self._target = target
        self._resolve = resolve
        self._credentials = credentials
        self._tls: ssl.SSLContext | None = None
        self._connections = Connections()

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """See `Webhook.post`."""
        query = f"timeout={_shown_seconds(timeout_s)}"
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

    def close(self) -> None:
        """Close the connections that are idle."""
        self._connections.close()

    def _failure(self, query: str, text: str) -> WebhookError:
        return WebhookError(f"Post {quote(self._target.url(query))}: {text}")

    async def _exchange(self, body: bytes, query: str) -> Answer:
        """One request and its answer. A kept connection that turns out to be closed is replaced by a new one."""
        request = self._head(query, len(body)) + body
        while True:
            connection = await self._connect(query)
            answer = Answer()
            try:
                await _ask(connection, request, answer)
            except (WebhookError, ConnectionError):
                if connection.reused and not answer.begun:
                    continue
                raise
            finally:
                if answer.keeps_connection:
                    self._connections.give_back(connection)
                else:
                    connection.close()
            return answer

    async def _connect(self, query: str) -> Connection:
        target = self._target
        host, port = target.host, target.port
        if target.service is not None:
            host, port = self._resolve(target.service.namespace, target.service.name, target.port)
        if self._tls is None:
            self._tls = self._credentials.tls(target.ca_pem)
        try:
            return await self._connections.take((host, port), self._tls, target.host)
        except socket.gaierror:
            raise self._failure(query, f"dial tcp: lookup {host}: no such host") from None
        except ConnectionRefusedError:
            raise self._failure(query, f"dial tcp {host}:{port}: connect: connection refused") from None

    def _head(self, query: str, length: int) -> bytes:
        target = self._target
        shown = self._credentials.authorization
        more = f"Authorization: {shown}\r\n" if shown else ""
        more += "".join([f"{name}: {value}\r\n" for name, value in trace_headers().items()])
        return (
            f"POST {target.path_with(query)} HTTP/1.1\r\nHost: {target.authority}\r\nUser-Agent: sampan\r\n"
            f"Content-Length: {length}\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
            f"{more}\r\n"
        ).encode()


class WebhookClients:
    """The webhooks of one cluster, each with its connections. The least recently used ones leave first."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._known: OrderedDict[tuple[Target, Credentials], HttpsWebhook] = OrderedDict()

    def connect(self, target: Target, credentials: Credentials = NO_CREDENTIALS) -> Webhook:
        """See `Connect`. The same target gives the same webhook."""
        key = (target, credentials)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = HttpsWebhook(target, self._resolve, credentials)
            if len(self._known) > _CLIENTS_MAX:
                self._known.popitem(last=False)[1].close()
        self._known.move_to_end(key)
        return known

    def close(self) -> None:
        """Close all connections that are idle."""
        for webhook in self._known.values():
            webhook.close()


def _shown_seconds(timeout_s: float) -> str:
    """Whole seconds, rounded up, as the webhook is told; what is shorter than a second stays as it is."""
    return f"{math.ceil(timeout_s)}s" if timeout_s >= 1 else f"{timeout_s:g}s"


async def _ask(connection: Connection, request: bytes, answer: Answer) -> None:
    connection.writer.write(request)
    await connection.writer.drain()
    while not answer.complete:
        data = await connection.reader.read(_READ_BYTES)
        if not data:
            answer.end()
            break
        answer.feed(data)


def _os_text(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _tls_text(error: ssl.SSLError) -> str:
    if not isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: {(error.reason or str(error)).lower().replace('_', ' ')}"
    if error.verify_code in _UNTRUSTED:
        return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    return f"tls: failed to verify certificate: x509: {error.verify_message}"
