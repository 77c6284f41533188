"""`RequestTracer`: creates OpenTelemetry spans of requests and their parts. Needs the extra `tracing`.

Source: apiserver pkg/endpoints/filters/traces.go (1.36).
"""

from collections.abc import Mapping

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    SpanKind,
    StatusCode,
    TracerProvider,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace import Span as OtelSpan
from opentelemetry.trace import Tracer as OtelTracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from sampan.core.clock import monotonic, unix_time_ns
from sampan.core.telemetry.tracing import Attributes
from sampan.server.authorization.masters import MASTERS
from sampan.server.request import Request, RequestInfo

_TRUSTED = frozenset({MASTERS, "system:monitoring"})
_AUDIT_ID_MAX = 64
_SERVER_ERROR = 500
_PROPAGATOR = TraceContextTextMapPropagator()


def _nanoseconds(at: float) -> int:
    """Convert a monotonic time to OpenTelemetry's nanoseconds since 1970."""
    return unix_time_ns() - int((monotonic() - at) * 1e9)


class CollectedSpan:
    """`Exported` span of OpenTelemetry. A span that is not sampled has no children, but its context is still
    propagated.
    """

    __slots__ = ("_span", "_tracer")

    def __init__(self, tracer: OtelTracer, span: OtelSpan) -> None:
        self._tracer, self._span = tracer, span

    def child(self, name: str, attributes: Attributes, began: float) -> "CollectedSpan":
        """Start a child span."""
        context = set_span_in_context(self._span, Context())
        span = self._tracer.start_span(name, context, attributes=dict(attributes), start_time=_nanoseconds(began))
        return CollectedSpan(self._tracer, span)

    def event(self, name: str, at: float) -> None:
        """Add an event."""
        self._span.add_event(name, timestamp=_nanoseconds(at))

    def record_response(self, code: int, size_bytes: int | None = None) -> None:
        """Record the status of the response, and the size of its body if it is known."""
        self._span.set_attribute("http.response.status_code", code)
        if size_bytes is not None:
            self._span.set_attribute("http.response.body.size", size_bytes)
        if code >= _SERVER_ERROR:
            self._span.set_status(StatusCode.ERROR)

    def end(self, at: float) -> None:
        """End the span at a time in seconds since the epoch; it is exported later."""
        self._span.end(_nanoseconds(at))

    def headers(self) -> Mapping[str, str]:
        """Return the headers that propagate the trace to another server."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier, set_span_in_context(self._span, Context()))
        return carrier


class RequestTracer:
    """Creates the spans of requests."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("sampan.server")

    def start(self, request: Request) -> CollectedSpan:
        """Begin the span of an authenticated request.

        For trusted users it is a child of the span in the headers. For other users it starts a new trace with a link to
        that span.
        """
        remote = _PROPAGATOR.extract(request.headers, Context())
        parent = get_current_span(remote).get_span_context()
        trusted = request.user is not None and not _TRUSTED.isdisjoint(request.user.groups)
        links = [Link(parent)] if parent.is_valid and not trusted else None
        span = self._tracer.start_span(
            _name(request),
            Context() if links else remote,
            SpanKind.SERVER,
            _attributes(request),
            links,
            start_time=_nanoseconds(request.wire.received),
        )
        return CollectedSpan(self._tracer, span)


def _attributes(request: Request) -> dict[str, str | int]:
    """Return OpenTelemetry's attributes of an HTTP server span, and those that Kubernetes adds."""
    agent = request.headers.get("user-agent", "")
    host, _, port = request.headers.get("host", "").rpartition(":")
    found: dict[str, str | int] = {
        "http.request.method": request.wire.method,
        "url.scheme": "https",
        "url.path": request.wire.path,
        "network.peer.address": request.wire.client_address,
        "client.address": request.wire.client_address,
        "http.target": request.wire.raw_target,
        "audit-id": request.audit_id[:_AUDIT_ID_MAX],
    }
    length = request.headers.get("content-length", "")
    if length.isdecimal() and length != "0":
        found["http.request.body.size"] = int(length)
    if agent:
        found["user_agent.original"] = agent
    if host and port.isdecimal():
        found |= {"server.address": host.strip("[]"), "server.port": int(port)}
    elif port:
        found["server.address"] = port
    return found


def _name(request: Request) -> str:
    info: RequestInfo = request.info
    if not info.is_resource:
        return request.wire.method
    parts = [f"/apis/{info.group}" if info.group else "/api", info.version]
    if info.namespace:
        parts.append("namespaces/{:namespace}")
    parts.append(info.resource)
    if info.name:
        parts.append("{:name}")
    if info.subresource:
        parts.append(info.subresource)
    return f"{request.wire.method} {'/'.join(parts)}"
