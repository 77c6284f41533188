"""OpenTelemetry span of each request. The filter runs after authentication, because only some users may continue a
trace.

Source: apiserver pkg/endpoints/filters/traces.go (1.36).
"""

from typing import Protocol

from sampan.core.clock import monotonic
from sampan.core.telemetry.tracing import Exported
from sampan.server.filters.error_responses import status_error_of
from sampan.server.request import Filter, Handler, Request, Response


class Collected(Exported, Protocol):
    """Exported span of a request."""

    def record_response(self, code: int, size_bytes: int | None = None) -> None:
        """Record the status of the response, and the size of its body if it is known."""


class Tracer(Protocol):
    """Creates the spans of requests."""

    def start(self, request: Request) -> Collected:
        """Begin the span of an authenticated request."""
        ...


def with_tracing(tracer: Tracer) -> Filter:
    """Return a filter that begins the request's span, and ends it with the response or its stream."""

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            collected = tracer.start(request)
            request.begin_span().exported = collected
            try:
                response = await handler(request)
            except BaseException as error:
                status_error = status_error_of(error)
                collected.record_response(status_error.code if status_error is not None else 500)
                collected.end(monotonic())
                raise
            if response.stream is None and response.takeover is None:
                collected.record_response(response.status, response.size_bytes)
                collected.end(monotonic())
            else:
                collected.record_response(response.status)
                _end_with(response, collected)
            return response

        return filter_

    return wrap


def with_span(name: str, filter_: Filter) -> Filter:
    """Return a filter that adds an exported span around another filter and all that follow it.

    Source: apiserver pkg/endpoints/filterlatency/filterlatency.go (1.36).
    """

    def wrap(handler: Handler) -> Handler:
        inner = filter_(handler)

        async def spanned(request: Request) -> Response:
            with request.begin_span().collected_part(name):
                return await inner(request)

        return spanned

    return wrap


def _end_with(response: Response, collected: Collected) -> None:
    response.at_end(lambda: collected.end(monotonic()))
