"""`OtelTracer`: OpenTelemetry spans of reconciles and of the requests that they send. Needs the extra `tracing`.

The span of a reconcile is OpenTelemetry's current span while it runs, so spans of the author's code are its children.
Each request has a span, and carries it in the header `traceparent`. The spans of an API server with tracing belong to
the same trace if the operator is in `system:masters` or `system:monitoring`. Otherwise they are linked to it.
Source: client-go transport (k8s.io/component-base/tracing `WrapperFor`, 1.36).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, Protocol

from opentelemetry.propagate import inject
from opentelemetry.trace import SpanKind, StatusCode, TracerProvider, format_trace_id, get_current_span

from sampan.client.transport import HttpRequest, HttpResponse, Transport
from sampan.core.telemetry.otlp import otlp_provider
from sampan.operator.controller.context import ReconcileContext

_ERROR_CODES: Final = 400


class ClosableProvider(Protocol):
    """Provider of tracers that can be shut down."""

    def shutdown(self) -> None:
        """Export the remaining spans."""


class OtelTracer:
    """Implements `ReconcileTracer` with a provider, for example that of the process."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("sampan.operator")

    @contextmanager
    def reconcile(self, context: ReconcileContext) -> Iterator[None]:
        """Return the span of a reconcile."""
        attributes: dict[str, str | int] = {
            "k8s.controller.name": context.controller,
            "k8s.object.namespace": context.request.namespace,
            "k8s.object.name": context.request.name,
            "sampan.reconcile.id": context.reconcile_id,
            "sampan.reconcile.priority": context.priority,
        }
        with self._tracer.start_as_current_span(f"reconcile {context.controller}", attributes=attributes):
            yield

    def transport(self, inner: Transport) -> Transport:
        """Return a transport that creates the spans of requests, and sends their context to the server."""
        return _TracedTransport(inner, self)

    def trace_id(self) -> str:
        """Return the id of the current trace, if it is sampled."""
        found = get_current_span().get_span_context()
        return format_trace_id(found.trace_id) if found.is_valid and found.trace_flags.sampled else ""

    @contextmanager
    def request(self, request: HttpRequest) -> Iterator["_RequestSpan | None"]:
        """Create the span of a request, if it belongs to a span."""
        if not get_current_span().get_span_context().is_valid:
            yield None
            return
        path = request.target.partition("?")[0]
        attributes = {"http.request.method": request.method, "url.path": path}
        with self._tracer.start_as_current_span(
            f"{request.method} {path}", kind=SpanKind.CLIENT, attributes=attributes
        ):
            yield _RequestSpan()


class _RequestSpan:
    """The current span, of a request."""

    def headers(self) -> dict[str, str]:
        """Return the headers that propagate the trace."""
        carrier: dict[str, str] = {}
        inject(carrier)
        return carrier

    def record(self, code: int) -> None:
        """Record the code of the response."""
        span = get_current_span()
        span.set_attribute("http.response.status_code", code)
        if code >= _ERROR_CODES:
            span.set_status(StatusCode.ERROR)


class _TracedTransport:
    """Passes requests to `inner`, each in a span."""

    def __init__(self, inner: Transport, tracer: OtelTracer) -> None:
        self._inner = inner
        self._tracer = tracer

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request. Its span ends when the head of the response arrives."""
        with self._tracer.request(request) as span:
            if span is None:
                return await self._inner.send(request)
            response = await self._inner.send(replace(request, headers={**request.headers, **span.headers()}))
            span.record(response.status)
            return response

    async def aclose(self) -> None:
        """Close `inner`."""
        await self._inner.aclose()


class OtlpTracer(OtelTracer):
    """Exports the spans to a collector, until `end` is called."""

    def __init__(self, endpoint: str, *, service: str, rate: float, insecure: bool) -> None:
        provider = otlp_provider(endpoint, service=service, rate=rate, insecure=insecure)
        super().__init__(provider)
        self._provider: ClosableProvider = provider

    def end(self) -> None:
        """Export the remaining spans. Blocks for some seconds if the collector does not respond."""
        self._provider.shutdown()
