"""`Request`, `Response` and `RequestInfo`, which filters and verbs exchange.

A filter is `Callable[[Handler], Handler]`. The chain is built once, outermost first, in `server/chain.py`. Errors are
raised through the chain as `StatusError`; the outermost filter writes them.

What is made for each request is a `msgspec.Struct`: CPython 3.11 makes a dataclass ten times slower.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from sampan.core.telemetry.tracing import Span
from sampan.http.tunnel import Tunnel
from sampan.wire.negotiation import MediaType

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Authenticated user."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class RequestInfo:
    """Meaning of a path and a method. Requests with the same target share one `RequestInfo`, so it must not be changed.

    Source: apiserver pkg/endpoints/request/requestinfo.go (1.36).
    """

    path: str
    verb: str
    """For resources: get list watch create update patch delete deletecollection. Otherwise the method in lower case."""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    parts: tuple[str, ...] = ()
    """Path segments from the resource on."""
    label_selector: str = ""
    field_selector: str = ""


OWN = "apiserver"


@dataclass(frozen=True, slots=True)
class MetricLabels:
    """Metric labels of a request that is not for a resource. The labels of resources come from the request."""

    subresource: str = ""
    resource: str = ""
    component: str = OWN
    group: str = ""
    version: str = ""
    by_request_info: bool = False
    """Take the labels from the parsed path, not from the route; see `Dialect.metrics_use_request_info`."""


NOT_COUNTED = MetricLabels()
"""Marker of a request that is not counted, because it was refused earlier, or because its path does not exist."""
BY_ROUTE, BY_REQUEST_INFO = MetricLabels(), MetricLabels(by_request_info=True)
"""Markers of resource requests, with the labels of the route or of the parsed path. Compared by identity."""


class WireRequest(msgspec.Struct, frozen=True, eq=False):
    """Request as the client sent it. No filter changes it."""

    method: str
    path: str
    """Decoded path without the query."""
    query_string: str
    read_body: Callable[[int], Awaitable[bytes]]
    """Reads the whole body. The argument is the maximum number of bytes; a longer body raises 413."""
    query: dict[str, list[str]] = {}
    """Decoded parameters. Requests with the same target share them, so they must not be changed."""
    raw_path: str = ""
    """Path as sent by the client, with percent-encoding."""
    long_running: bool = False
    """True for watch, proxy and streaming subresources: they have no deadline, and end at shutdown."""
    stream_body: Callable[[], AsyncIterator[bytes]] | None = None
    """Yields the body in pieces of any size, once and instead of `read_body`, with backpressure. Raises
    `ConnectionResetError` if the client disconnects before the end.
    """
    disconnected: Callable[[], Coroutine[Any, Any, None]] | None = None
    """Waits until the client disconnects."""
    client_certificate: bytes | None = None
    """Client certificate in DER, if there is one. The client has proved that it has the key. The signature is not
    verified.
    """
    client_intermediates: tuple[bytes, ...] = ()
    """Further certificates from the client, in DER."""
    client_address: str = ""
    received: float = 0.0
    """Monotonic time (`time.monotonic`, as the loop uses) at which the request began."""

    @property
    def raw_target(self) -> str:
        """Path and query as sent by the client."""
        return f"{self.raw_path}?{self.query_string}" if self.query_string else self.raw_path

    @property
    def uri(self) -> str:
        """Decoded path with the query."""
        return f"{self.path}?{self.query_string}" if self.query_string else self.path

    def param(self, name: str, default: str = "") -> str:
        """Return the first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else default


class BrowserSession(Protocol):
    """Session of a browser that is logged in to the dashboard."""

    ended: bool
    """True if its cookie is no longer valid."""

    def hold(self, end: Callable[[], object]) -> Callable[[], None]:
        """Call `end` when the session ends, at once if it has ended. Return a function that cancels this."""


class Seat(Protocol):
    """Seat of flow control that a response holds while it is written."""

    def stall(self) -> None:
        """Let other requests take the seat, because the client does not read."""

    def resume(self) -> None:
        """Keep the seat again, because the client reads."""

    def release(self) -> None:
        """Give up the seat. Does nothing if it is free already."""


class Request(msgspec.Struct, eq=False):
    """One request: what the client sent (`wire`), and what the filters add to it."""

    wire: WireRequest
    headers: dict[str, str]
    """Names are in lower case; repeated headers are joined with a comma (see `joined`). The filters that consume
    credentials remove their headers.
    """
    info: RequestInfo = msgspec.field(default_factory=lambda: RequestInfo("", ""))
    user: UserInfo | None = None
    impersonator: UserInfo | None = None
    """User that sent the request, if it impersonates `user`."""
    impersonation_constraint: str = ""
    """Verb of the constrained mode that allows the impersonation. "" without impersonation, and in the legacy mode."""
    audit_id: str = ""
    response_headers: tuple[tuple[bytes, bytes], ...] = ()
    """Headers of every response, including errors."""
    accepted: tuple[tuple[str, ...], MediaType | None] | None = None
    """Cached result of `media_of`, with its media types; None before the first call."""
    warnings: list[str] = []
    """Texts of `Warning` headers. Those added after the start of the response are not sent."""
    annotations: dict[str, str] = {}
    """Annotations of the audit event."""
    latencies: dict[str, float] = {}
    """Durations of parts of the work in seconds, by their names in audit events. Not all requests have them."""
    body_annotations: dict[str, str] = {}
    """Annotations of the audit event at level Request and above, where it contains the bodies."""
    body_read: Callable[[Any, Callable[[], Any]], None] | None = None
    """Callback for the decoded body, before admission or changes; None if not needed.

    The second argument returns the form for the audit log, in which objects have their defaults.
    """
    deadline: float = 0.0
    """Loop time of the request's deadline; 0 = long-running."""
    seat: Seat | None = None
    """Seat of flow control that is held until the response is written; None if it is not held."""
    initial_sent: Callable[[], None] | None = None
    """Callback of a watch when the client has received the initial objects; None if not needed."""
    body_size_bytes: int = -1
    """Size of the body in bytes, or -1 if no object was read from it."""
    component: str = OWN
    """Component that responds: this server, or "aggregator" for another server."""
    counted: MetricLabels = NOT_COUNTED
    """Metric labels of the request, or a marker. The handler that serves the request sets them."""
    terminated: bool = False
    """True if the request was cancelled before its end."""
    abandoned: bool = False
    """True if the client disconnected before it sent the whole request."""
    span: Span | None = None
    """Span of the request; None until a step is recorded."""
    on_page_port: bool = False
    """True if it came to the port of the dashboard alone, `--dashboard-port`."""
    shown_below: str = ""
    """Path below which a browser sees the proxied pages, if it is not the path of the request: that of a link of the
    dashboard. The browser must then treat them as pages of another origin, and get nothing for the whole origin.
    """
    session: BrowserSession | None = None
    """Session whose cookie the request has, if its page sent it; perhaps one that has ended. None for other clients."""

    def begin_span(self) -> Span:
        """Return the request's span, and make it the current one of this task."""
        if self.span is None:
            self.span = Span(self.wire.received, self.latencies)
            self.span.enter()
        return self.span

    def step(self, name: str) -> None:
        """Record a finished step."""
        (self.span or self.begin_span()).step(name)


class Response(msgspec.Struct, eq=False):
    """Response: `body`, or `stream` (chunks, each sent immediately), or `takeover` (an upgrade)."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Headers = []
    stream: AsyncIterator[bytes] | None = None
    rest: tuple[bytes, ...] = ()
    """Further parts of the body, after `body` or `gzip_body`. Other responses may share them."""
    finite: bool = False
    """True for a `stream` that ends by itself, such as that of a large list. Shutdown waits for its end."""
    length: int | None = None
    """Content-Length of `stream`, or of the body that HEAD omits, if it is known. A stream with fewer bytes must raise
    an exception.
    """
    gzip_body: bytes | None = None
    """Body compressed with gzip, for clients that accept it. `body` may be empty only if the client accepts gzip."""
    close: bool = False
    """Close the connection after this response."""
    lost: bool = False
    """Close the connection instead of sending this response. Only injected faults set it."""
    sent_bytes: int = 0
    """Number of bytes of `stream` that have been sent."""
    patient: bool = False
    """True if the client may pause reading for any time (`kubectl logs -f | less`)."""
    takeover: Callable[[Tunnel], Awaitable[None]] | None = None
    """Function that owns the connection after the head (status 101) was sent. When it returns or raises, the connection
    is closed. It is cancelled when the client disconnects, and when the server shuts down. At shutdown it may use the
    drain time to end its protocol. It must not suppress the cancellation. Only HTTP/1.1 has upgrades.
    """
    finished: Callable[[], None] | None = None
    """Called once by the transport when the response, or its stream, was sent or aborted."""

    @property
    def size_bytes(self) -> int:
        """Number of bytes of the body, if it is not a stream."""
        return (len(self.body) or len(self.gzip_body or b"")) + sum(map(len, self.rest))

    def at_end(self, ended: Callable[[], None]) -> None:
        """Call `ended` when the response is written or aborted, before the functions that were added earlier."""
        before = self.finished
        if before is None:
            self.finished = ended
            return

        def finished() -> None:
            ended()
            before()

        self.finished = finished


Handler = Callable[[Request], Awaitable[Response]]
Filter = Callable[[Handler], Handler]
