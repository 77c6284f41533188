"""`Span`: work done for one request, and the steps of that work.

Steps are recorded for every request, so that a slow one can be logged with its steps. At most `STEPS_MAX` are
recorded, because tasks may outlive the request that started them.

A trace exporter (such as OpenTelemetry) attaches an `Exported` to the span of a request; nested work then gets child
spans. Code in layers below the server gets the span from `current_span`.
Source: component-base tracing/tracing.go (1.36), which also combines recorded steps with exported spans.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import Protocol

import msgspec

from sampan.core.clock import monotonic

Attributes = Mapping[str, str | int]

STEPS_MAX = 256
_NO_ATTRIBUTES: Attributes = {}
_current: ContextVar["Span | None"] = ContextVar("sampan span", default=None)


class Exported(Protocol):
    """Span in a trace exporter. Times are monotonic seconds."""

    def child(self, name: str, attributes: Attributes, began: float) -> "Exported":
        """Start a child span."""
        ...

    def event(self, name: str, at: float) -> None:
        """Add an event."""
        ...

    def end(self, at: float) -> None:
        """End the span. Called once."""
        ...

    def headers(self) -> Mapping[str, str]:
        """Return the headers that propagate the trace to another server. Names are in lower case."""
        ...


class Span(msgspec.Struct, eq=False):
    """Unit of work. All spans of one request share `steps`, the names of finished steps with their times."""

    began: float
    """Monotonic seconds."""
    latencies: dict[str, float] = {}
    """Seconds spent by kind of work."""
    steps: list[tuple[float, str]] = []
    exported: Exported | None = None
    _token: "Token[Span | None] | None" = None

    def enter(self) -> None:
        """Make this the current span of the task."""
        self._token = _current.set(self)

    def leave(self) -> None:
        """Undo `enter`. Does nothing in another task than `enter`: the span stays current until that task ends."""
        token, self._token = self._token, None
        if token is not None:
            try:  # each write pays for `suppress`
                _current.reset(token)
            except ValueError:
                pass

    def step(self, name: str) -> None:
        """Record a step that has just finished."""
        at = monotonic()
        steps = self.steps
        if len(steps) < STEPS_MAX:
            steps.append((at, name))
        if self.exported is not None:
            self.exported.event(name, at)

    def took(self, name: str, seconds: float, attributes: Attributes = _NO_ATTRIBUTES) -> None:
        """Record work that has just finished and took `seconds`."""
        at = monotonic()
        steps = self.steps
        if len(steps) < STEPS_MAX:
            steps.append((at, name))
        if self.exported is not None:
            self.exported.child(name, attributes, at - seconds).end(at)

    def _note(self, at: float, name: str) -> None:
        if len(self.steps) < STEPS_MAX:
            self.steps.append((at, name))

    @contextmanager
    def collected_part(self, name: str, attributes: Attributes = _NO_ATTRIBUTES) -> Iterator[None]:
        """Trace nested work in the exporter only, not as a step. Spans of this kind must not overlap."""
        outer = self.exported
        if outer is None:
            yield
            return
        child = self.exported = outer.child(name, attributes, monotonic())
        try:
            yield
        finally:
            child.end(monotonic())
            self.exported = outer

    @contextmanager
    def part(self, name: str, attributes: Attributes = _NO_ATTRIBUTES, latency: str = "") -> Iterator["Span"]:
        """Trace nested work as the current span. `latency`: the kind of work in `latencies`."""
        span = Span(monotonic(), self.latencies)
        span.steps = self.steps
        if self.exported is not None:
            span.exported = self.exported.child(name, attributes, span.began)
        span.enter()
        try:
            yield span
        finally:
            span.leave()
            at = monotonic()
            self._note(at, name)
            if latency:
                self.latencies[latency] = self.latencies.get(latency, 0.0) + at - span.began
            if span.exported is not None:
                span.exported.end(at)
                span.exported = None


def current_span() -> Span | None:
    """Return the span of the request that this task works for."""
    return _current.get()


@contextmanager
def part_of_current(name: str, attributes: Attributes = _NO_ATTRIBUTES, latency: str = "") -> Iterator[Span | None]:
    """Trace nested work in the current span; yields None if there is none. See `Span.part`."""
    span = _current.get()
    if span is None:
        yield None
        return
    with span.part(name, attributes, latency) as part:
        yield part


def trace_headers() -> dict[str, str]:
    """Return the headers that propagate the current trace to another server; empty if no exporter is attached."""
    span = _current.get()
    return dict(span.exported.headers()) if span is not None and span.exported is not None else {}
