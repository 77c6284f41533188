"""HTTPS client for webhooks: JSON requests and responses on pooled connections.

Concurrency: `post` runs in the caller's task and has exclusive use of a connection, which it closes when cancelled.
`RESPONSE_SIZE_BYTES_MAX` bounds the response, `timeout_s` the time. `WebhookClients` owns the idle connections.
Source: apiserver pkg/util/webhook/client.go, client-go rest/request.go (1.36).
"""

import asyncio
import math
import socket
import ssl
from collections import OrderedDict
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Protocol

from cryptography import x509

from sampan.core.addresses.dial import open_connection
from sampan.core.clock import utc_now
from sampan.core.field import quote
from sampan.core.telemetry.tracing import current_span, trace_headers
from sampan.core.tls.trust import unverified_context
from sampan.http.client import BodyTooLarge, HttpClient, HttpClientSettings, HttpRequest, TransportError, Upstream
from sampan.registry.measures import WebhookRequests
from sampan.registry.webhook import response as responses
from sampan.registry.webhook.certificate_texts import UNTRUSTED, certificate_text, mismatch, tls_text
from sampan.registry.webhook.credentials import NO_CREDENTIALS, ClientCredentials
from sampan.registry.webhook.response import RESPONSE_SIZE_BYTES_MAX, WebhookError, WebhookResponse, not_http
from sampan.registry.webhook.services import Resolve, ServiceAddress, ServiceError
from sampan.registry.webhook.target import WebhookTarget
from sampan.streams.tunnels import NodeTunnels
from sampan.wire.http1 import Malformed, request_head

__all__ = ["RESPONSE_SIZE_BYTES_MAX", "Connect", "HttpsWebhook", "Webhook", "WebhookClients", "WebhookError"]

_NO_RESPONSE = "<error>"
_CLIENTS_MAX = 100
_ALTERNATIVES_MAX = 2
_ALTERNATIVES_S = 3.0
"""Time in which a place must accept a connection, if the service has another one."""
IDLE_MAX = 25
IDLE_S = 90.0
"""Seconds after which an idle connection is closed.

Source: net/http Transport as client-go configures it (1.36).
"""
REDIRECTS_MAX = 10
RETRIES_MAX = 10
"""Maximum number of retries after responses with a Retry-After header."""


class Webhook(Protocol):
    """Client of one webhook."""

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """Send a JSON body and return the body of the response. Raises `WebhookError`."""
        ...


Connect = Callable[[WebhookTarget], Webhook]
"""Returns the client of the webhook at a target."""


class HttpsWebhook:
    """Client of one webhook, with TLS unless its target disables it.

    `resolve` finds the pods of services. `requests` counts the requests. `tunnels` are those of the pods' nodes.
    """

    def __init__(
        self,
        target: WebhookTarget,
        resolve: Resolve,
        credentials: ClientCredentials = NO_CREDENTIALS,
        *,
        requests: WebhookRequests | None = None,
        tunnels: NodeTunnels | None = None,
    ) -> None:
        self._tunnels = tunnels or NodeTunnels()
        self._target = target
        self._resolve = resolve
        self._credentials = credentials
        self._tls: ssl.SSLContext | None = None
        self._client = HttpClient(
            HttpClientSettings(
                connections_max=None,
                idle_max=IDLE_MAX,
                idle_timeout_s=IDLE_S,
                body_bytes_max=responses.RESPONSE_SIZE_BYTES_MAX,
                decompression=False,
            )
        )
        self._requests = requests or WebhookRequests()

    async def post(self, body: bytes, timeout_s: float) -> bytes:
        """Send a JSON body; see `Webhook.post`."""
        call = WebhookCall(self._target, "POST", body, f"timeout={_shown_seconds(timeout_s)}")
        try:
            async with asyncio.timeout(timeout_s):
                return (await self._response(call)).checked()
        except TimeoutError:
            raise call.failure("context deadline exceeded") from None

    def close(self) -> None:
        """Close the idle connections now, and each busy connection after its response."""
        self._client.pool.stop_keeping()

    async def _response(self, call: "WebhookCall") -> WebhookResponse:
        """Send the request and return the last response. Follow redirects, and retry if the webhook requests it."""
        redirects = retries = 0
        while True:
            reply = await self._counted_exchange(call)
            if reply.location:
                redirects += 1
                if redirects >= REDIRECTS_MAX:
                    raise WebhookError(f"Post {quote(reply.location)}: stopped after {REDIRECTS_MAX} redirects")
                call.follow(reply)
                continue
            wait_s = reply.retry_after_s
            if wait_s is None or retries >= RETRIES_MAX:
                return reply
            retries += 1
            await asyncio.sleep(wait_s)

    async def _counted_exchange(self, call: "WebhookCall") -> WebhookResponse:
        """Send one request and count it. Raises `WebhookError`."""
        began, code = perf_counter(), _NO_RESPONSE
        method, host = call.method, call.target.authority
        try:
            reply = await self._exchange_or_raise(call)
            code = str(reply.status)
        finally:
            self._requests.sent(method, host, code, perf_counter() - began)
        self._requests.record_response(method, host, len(call.body), len(reply.body))
        return reply

    async def _exchange_or_raise(self, call: "WebhookCall") -> WebhookResponse:
        """Send one request. Raises `WebhookError` with Go's texts."""
        call.has_response = False
        try:
            return await self._exchange(call)
        except (ServiceError, ValueError) as error:
            raise call.failure(str(error)) from None
        except BodyTooLarge:
            raise WebhookError(f"the answer is larger than {responses.RESPONSE_SIZE_BYTES_MAX} bytes") from None
        except ssl.SSLError as error:
            raise call.failure(await self._tls_text(error, call)) from None
        except TransportError as error:
            cause = error.__cause__
            if isinstance(cause, ssl.SSLError):
                raise call.failure(await self._tls_text(cause, call)) from None
            text = _dial_text(call.place, cause) if not error.sent else _text(cause)
            raise call.failure(text, may_pass=isinstance(cause, ConnectionResetError)) from None

    async def _exchange(self, call: "WebhookCall") -> WebhookResponse:
        """Send one request inside a trace span. The client replaces a pooled connection that turns out to be closed."""
        span = current_span()
        if span is None:
            return await self._exchanged(call)
        attributes = {"http.request.method": call.method, "url.full": call.url, "server.address": call.target.host}
        with span.collected_part(f"HTTP {call.method}", attributes):
            return await self._exchanged(call)

    async def _exchanged(self, call: "WebhookCall") -> WebhookResponse:
        """Send the request to the first place of the webhook that accepts a connection."""
        *first, last = self._places(call.target)
        for call.place in first:
            try:
                return await self._sent(call, _ALTERNATIVES_S)
            except TransportError as error:
                if error.sent or isinstance(error.__cause__, ssl.SSLError):
                    raise
        call.place = last
        return await self._sent(call, None)

    async def _sent(self, call: "WebhookCall", connect_timeout_s: float | None) -> WebhookResponse:
        head = call.head(self._credentials, self._target)
        request = HttpRequest(call.method, "/", body=call.body)
        endpoint = self._endpoint(call.target, call.place, connect_timeout_s)
        response = await self._client.send(endpoint, request, head, replay=True)
        call.has_response = True
        return WebhookResponse(response.status, response.headers, await response.read())

    def _endpoint(self, target: WebhookTarget, place: ServiceAddress, connect_timeout_s: float | None) -> Upstream:
        if target.secure and self._tls is None:
            self._tls = self._credentials.tls(target.ca_pem)
        return Upstream(
            target.host,
            place.port,
            self._tls if target.secure else None,
            address=place.host,
            any_address=self._target.is_setting,
            connect_timeout_s=connect_timeout_s,
            way=self._tunnels.to(place.node),
        )

    def _places(self, target: WebhookTarget) -> Sequence[ServiceAddress]:
        if target.service is None:
            return [ServiceAddress(target.host, target.port)]
        found = self._resolve(target.service.namespace, target.service.name, target.port)
        return found[: _ALTERNATIVES_MAX + 1]

    async def _tls_text(self, error: ssl.SSLError, call: "WebhookCall") -> str:
        """Return Go's text for a TLS failure. Some texts need the certificate of the webhook."""
        target = call.target
        if not isinstance(error, ssl.SSLCertVerificationError):
            return tls_text(error)
        if error.verify_code in UNTRUSTED:
            return certificate_text("certificate signed by unknown authority")
        try:
            certificate = await self._certificate(target, call.place)
        except (OSError, ServiceError, ValueError):
            return certificate_text(str(error.verify_message))
        return certificate_text(mismatch(certificate, target.host, utc_now()) or str(error.verify_message))

    async def _certificate(self, target: WebhookTarget, place: ServiceAddress) -> x509.Certificate:
        """Return the certificate that the webhook presents, without verification."""
        way = self._tunnels.to(place.node)
        if way is not None and way.is_open:
            raise ServiceError("the certificate is only read from direct connections")
        context = unverified_context()
        _, writer = await open_connection(
            place.host, place.port, tls=context, server_name=target.host, any_address=target.is_setting
        )
        try:
            shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            return x509.load_der_x509_certificate(shown)
        finally:
            writer.transport.abort()


class WebhookCall:
    """State of one call: its target, and the progress of its response."""

    def __init__(self, target: WebhookTarget, method: str, body: bytes, query: str) -> None:
        self.target = target
        self.method = method
        self.body = body
        self.query = query
        self.has_response = False
        """True if the head of the response has arrived."""
        self.url = target.url(query)
        self.place = ServiceAddress(target.host, target.port)
        """Place of the last attempt."""

    def follow(self, reply: WebhookResponse) -> None:
        """Send the same request to the location that a redirect names. Raises `WebhookError`.

        It keeps method and body for every redirect status. Go's client sends a GET without a body after 301, 302 and
        303, which no webhook can process.
        """
        try:
            self.target = self.target.elsewhere(reply.location)
        except ValueError as error:
            raise WebhookError(f"Post {quote(reply.location)}: {error}") from None
        self.query, self.url = "", reply.location

    def failure(self, text: str, *, may_pass: bool = False) -> WebhookError:
        """Return the error for a failed call. Its text depends on the progress of the call."""
        if self.has_response:
            text = f"unexpected error when reading response body. Please retry. Original error: {text}"
            return WebhookError(text, may_pass=may_pass)
        return WebhookError(f"{self.method.capitalize()} {quote(self.url)}: {text}", may_pass=may_pass)

    def head(self, credentials: ClientCredentials, known: WebhookTarget) -> bytes:
        """Return the head of the request. Only the configured host gets credentials. Raises `ValueError`."""
        target = self.target
        shown = credentials.authorization if (target.host, target.port) == (known.host, known.port) else ""
        headers = {"Host": target.authority, "User-Agent": "sampan", "Accept": "application/json"}
        if shown:
            headers["Authorization"] = shown
        if self.body:
            headers |= {"Content-Length": str(len(self.body)), "Content-Type": "application/json"}
        return request_head(self.method, target.path_with(self.query), (headers | trace_headers()).items())


class WebhookClients:
    """Clients of the webhooks of one cluster, in an LRU cache. Each has its own connections."""

    def __init__(
        self, resolve: Resolve, requests: WebhookRequests | None = None, tunnels: NodeTunnels | None = None
    ) -> None:
        self._resolve = resolve
        self._tunnels = tunnels
        self._requests = requests or WebhookRequests()
        self._known: OrderedDict[tuple[WebhookTarget, ClientCredentials], HttpsWebhook] = OrderedDict()

    def connect(self, target: WebhookTarget, credentials: ClientCredentials = NO_CREDENTIALS) -> Webhook:
        """Return the client of a target; see `Connect`. Equal targets share a client."""
        key = (target, credentials)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = HttpsWebhook(
                target, self._resolve, credentials, requests=self._requests, tunnels=self._tunnels
            )
            if len(self._known) > _CLIENTS_MAX:
                self._known.popitem(last=False)[1].close()
        self._known.move_to_end(key)
        return known

    def close(self) -> None:
        """Close all idle connections."""
        for webhook in self._known.values():
            webhook.close()


def _shown_seconds(timeout_s: float) -> str:
    """Return whole seconds, rounded up, for the webhook's `timeout` parameter. Keep fractions below one second."""
    return f"{math.ceil(timeout_s)}s" if timeout_s >= 1 else f"{timeout_s:g}s"


def _dial_text(place: ServiceAddress, cause: BaseException | None) -> str:
    if isinstance(cause, socket.gaierror):
        return f"dial tcp: lookup {place.host}: no such host"
    if isinstance(cause, ConnectionRefusedError):
        return f"dial tcp {place.host}:{place.port}: connect: connection refused"
    return _text(cause)


def _text(cause: BaseException | None) -> str:
    """Return the text of Go's client for a failure."""
    if isinstance(cause, Malformed):
        reason = not_http(cause.first) if cause.first and not cause.first.startswith(b"HTTP/1.") else cause.reason
        return f"net/http: HTTP/1.x transport connection broken: {reason}"
    if isinstance(cause, OSError):
        return (cause.strerror or str(cause)).lower()
    return str(cause)
