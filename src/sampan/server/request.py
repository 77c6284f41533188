"""What the filters and verbs pass along: `Request`, `Response`, `RequestInfo`.

A filter is `Callable[[Handler], Handler]`; the chain is built once, outermost first, in `server/chain.py`.
Errors travel as `StatusError` raised through the chain; the outermost filter writes them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from sampan.server.tunnel import Tunnel

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


@dataclass(slots=True, eq=False)
class Request:
    """One request on its way. Filters fill in what they find out."""

    method: str
    path: str
    """Decoded path without the query."""
    query_string: str
    headers: dict[str, str]
    """Lower-case names; repeated headers joined with a comma."""
    read_body: Callable[[int], Awaitable[bytes]]
    """Reads the whole body; raises 413 beyond that many bytes."""
    query: dict[str, list[str]] = field(default_factory=dict)
    """Decoded parameters. Shared by requests for the same target: read only."""
    info: RequestInfo = field(default_factory=lambda: RequestInfo("", ""))
    user: UserInfo | None = None
    audit_id: str = ""
    client_certificate: bytes | None = None
    """DER of the client's certificate, if it gave one. The client has its key; nobody has verified who signed it."""
    client_intermediates: tuple[bytes, ...] = ()
    """DER of the further certificates that the client sent."""
    client_address: str = ""
    warnings: list[str] = field(default_factory=list)
    """Texts for `Warning` headers; only those added before the response starts are sent."""
    deadline: float = 0.0
    """Loop time at which the request must have been answered; 0 = long-running."""
    disconnected: Callable[[], Awaitable[None]] | None = None
    """Returns when the client has gone."""
    received: float = 0.0
    """Monotonic time (`time.monotonic`, which is the loop's too) at which the request began."""
    long_running: bool = False
    """Watch, proxy and the streaming subresources: no deadline, ended at shutdown."""

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
    gzip_body: bytes | None = None
    """The body already gzipped, for clients that accept it; `body` may then stay empty only if the client asked for
    gzip.
    """
    close: bool = False
    """Close the connection after this answer."""
    takeover: Callable[[Tunnel], Awaitable[None]] | None = None
    """Has the connection after the head (status 101) has been sent; see `server/tunnel.py`."""
    finished: Callable[[], None] | None = None
    """Called once by the transport when the answer (also a stream) has been sent or given up."""


Handler = Callable[[Request], Awaitable[Response]]
Filter = Callable[[Handler], Handler]
Extras = dict[str, Any]
