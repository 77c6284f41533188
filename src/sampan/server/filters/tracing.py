"""A span for each request, behind authentication: whose trace goes on depends on who asks.

Source: apiserver pkg/endpoints/filters/traces.go (1.36).
"""

from time import monotonic
from typing import Protocol

from sampan.core.tracing import Exported
from sampan.server.filters.answers import status_error_of
from sampan.server.request import Filter, Handler, Request, Response


class Collected(Exported, Protocol):
    """The span of a request as its collector has it."""

    def answered(self, code: int, size_bytes: int | None = None) -> None:
        """Tell with which status the request was answered, and how long the body is where that is known."""


class Tracer(Protocol):
    """Collects the spans of requests."""

    def start(self, request: Request) -> Collected:
        """Begin the span of a request whose user is known."""
        ...


def with_tracing(tracer: Tracer) -> Filter:
    """Begin the request's span, and end it with the answer or with its stream."""

    def wrap(handler: Handler) -> Handler:
        async def filter_(request: Request) -> Response:
            collected = tracer.start(request)
            request.begin_span().exported = collected
            try:
                response = await handler(request)
            except BaseException as error:
                told = status_error_of(error)
                collected.answered(told.code if told is not None else 500)
                collected.end(monotonic())
                raise
            if response.stream is None and response.takeover is None:
                collected.answered(response.status, len(response.body) or len(response.gzip_body or b""))
                collected.end(monotonic())
            else:
                collected.answered(response.status)
                _end_with(response, collected)
            return response

        return filter_

    return wrap


def with_span(name: str, filter_: Filter) -> Filter:
    """A span around a filter and all that comes behind it, for the collector alone.

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
    before = response.finished

    def finished() -> None:
        collected.end(monotonic())
        if before is not None:
            before()

    response.finished = finished
