"""What the filters and verbs pass along: `Request`, `Response`, `RequestInfo`.

A filter is `Callable[[Handler], Handler]`; the chain is built once, outermost first, in `server/chain.py`.
Errors travel as `StatusError` raised through the chain; the outermost filter writes them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from sampan.core.tracing import Span
from sampan.http.tunnel import Tunnel
from sampan.wire.negotiation import MediaType

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class UserInfo:
    """Who asks."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(slots=True)
class RequestInfo:
    """What a path and a method mean. Shared by requests for the same target: read only.

    Source: apiserver pkg/endpoints/request/requestinfo.go (1.36).
    """

    path: str
    verb: str
    """Of a resource: get list watch create update patch delete deletecollection; else the method in lower case."""
    is_resource: bool = False
    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    subresource: str = ""
    name: str = ""
    parts: tuple[str, ...] = ()
    """The path from the resource on."""
    label_selector: str = ""
    field_selector: str = ""


OWN = "apiserver"


@dataclass(frozen=True, slots=True)
class Counted:
    """As what metrics count a request. For a resource they know the labels; the fields are for what is none."""

    subresource: str = ""
    resource: str = ""
    component: str = OWN
    group: str = ""
    version: str = ""
    by_request_info: bool = False
    """Labels come from the parsed path, not from the route; see `Dialect.metrics_use_request_info`."""


NOT_COUNTED = Counted()
"""Nobody has served the request: it was refused before, or its path leads nowhere."""
BY_ROUTE, BY_REQUEST_INFO = Counted(), Counted(by_request_info=True)
"""Requests for resources. Compared by identity."""


@dataclass(slots=True, eq=False)
class Request:
    """One request on its way. Filters fill in what they find out."""

    method: str
    path: str
    """Decoded path without the query."""
    query_string: str
    headers: dict[str, str]
    """Lower-case names; repeated headers joined with a comma (see `joined`)."""
    read_body: Callable[[int], Awaitable[bytes]]
    """Reads the whole body; raises 413 beyond that many bytes."""
    query: dict[str, list[str]] = field(default_factory=dict)
    """Decoded parameters. Shared by requests for the same target: read only."""
    info: RequestInfo = field(default_factory=lambda: RequestInfo("", ""))
    user: UserInfo | None = None
    impersonator: UserInfo | None = None
    """Who has sent the request, where `user` is somebody else by impersonation."""
    impersonation_constraint: str = ""
    """The verb of the limited mode that allows the impersonation; "": there is none, or it is not limited."""
    audit_id: str = ""
    client_certificate: bytes | None = None
    """DER of the client's certificate, if it gave one. The client has its key; nobody has verified who signed it."""
    client_intermediates: tuple[bytes, ...] = ()
    """DER of the further certificates that the client sent."""
    client_address: str = ""
    answer_headers: tuple[tuple[bytes, bytes], ...] = ()
    """For every answer, also for errors."""
    accepted: tuple[tuple[str, ...], MediaType | None] | None = None
    """The result of `media_of` and the media types that it was called with; None before the first call."""
    warnings: list[str] = field(default_factory=list)
    """Texts for `Warning` headers; only those added before the response starts are sent."""
    annotations: dict[str, str] = field(default_factory=dict)
    """Of the request's audit event."""
    latencies: dict[str, float] = field(default_factory=dict)
    """Seconds that parts of the work took, by the names that audit events have for them; not of all requests."""
    body_annotations: dict[str, str] = field(default_factory=dict)
    """Of the audit event where it holds the bodies too (level Request and above)."""
    body_read: Callable[[Any, Callable[[], Any]], None] | None = None
    """Is told of the decoded body before it is admitted or changed, and how to get what is recorded of it: objects have
    their defaults there. None where nobody wants to know.
    """
    deadline: float = 0.0
    """Loop time at which the request must have been answered; 0 = long-running."""
    disconnected: Callable[[], Coroutine[Any, Any, None]] | None = None
    """Returns when the client has gone."""
    raw_path: str = ""
    """The path as the client wrote it, percent-encodings and all."""
    stream_body: Callable[[], AsyncIterator[bytes]] | None = None
    """Gives the body in pieces as they come, of whatever size, once and instead of `read_body`; the client waits when
    nobody asks for the next piece. Raises `ConnectionResetError` when the client goes before the end.
    """
    received: float = 0.0
    """Monotonic time (`time.monotonic`, which is the loop's too) at which the request began."""
    body_size_bytes: int = -1
    """Of a body that was read for its object; -1: none was."""
    component: str = OWN
    """Who answers: this server, or ("aggregator") another one that it asks."""
    counted: Counted = NOT_COUNTED
    """Set by whoever serves it."""
    terminated: bool = False
    """Whether the request was given up before it had come to its end."""
    abandoned: bool = False
    """Whether the client went before it had sent all of it."""
    long_running: bool = False
    """Watch, proxy and the streaming subresources: no deadline, ended at shutdown."""
    span: Span | None = None
    """What was done for the request, and when; None until something was."""

    def begin_span(self) -> Span:
        """The request's span; from now on the current one of this task."""
        if self.span is None:
            self.span = Span(self.received, self.latencies)
            self.span.enter()
        return self.span

    def step(self, name: str) -> None:
        """Note what has just been done."""
        (self.span or self.begin_span()).step(name)

    def param(self, name: str, default: str = "") -> str:
        """The first value of a query parameter."""
        values = self.query.get(name)
        return values[0] if values else default


@dataclass(slots=True, eq=False)
class Response:
    """An answer: `body`, or `stream` (chunks, sent as they come; each is flushed), or `takeover` (an upgrade)."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Headers = field(default_factory=list)
    stream: AsyncIterator[bytes] | None = None
    length: int | None = None
    """The Content-Length of `stream`, or of the body that HEAD leaves out, where it is known. A stream that ends before
    must raise.
    """
    gzip_body: bytes | None = None
    """The body already gzipped, for clients that accept it; `body` may then stay empty only if the client asked for
    gzip.
    """
    close: bool = False
    """Close the connection after this answer."""
    sent_bytes: int = 0
    """Of `stream`, as far as it has been sent."""
    patient: bool = False
    """The client may leave what it is sent unread for as long as it likes (`kubectl logs -f | less`)."""
    takeover: Callable[[Tunnel], Awaitable[None]] | None = None
    """Has the connection after the head (status 101) has been sent, until it returns or raises; then the connection is
    closed. It is cancelled when the client disconnects, and when the server ends: then it has the time of the server's
    drain to end its protocol, and lets the cancellation pass. Only HTTP/1.1 has upgrades.
    """
    finished: Callable[[], None] | None = None
    """Called once by the transport when the answer (also a stream) has been sent or given up."""


Handler = Callable[[Request], Awaitable[Response]]
Filter = Callable[[Handler], Handler]
Extras = dict[str, Any]
