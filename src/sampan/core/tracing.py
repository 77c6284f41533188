"""`Span`: a piece of work for one request, and the steps that it is made of.

Steps are noted for every request that takes some, so that a slow one can say where its time went; at most `STEPS_MAX`,
as tasks may outlive the request that has begun them. Whoever collects spans (OpenTelemetry, say) hangs an `Exported` on
the span of a request; pieces of work inside it then become spans of their own. What is below the server finds the span
by `current_span`.
Source: component-base tracing/tracing.go (1.36), which does both in the same way.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar, Token
from time import monotonic
from typing import Protocol

Attributes = Mapping[str, str | int]

STEPS_MAX = 256
_NO_ATTRIBUTES: Attributes = {}
_current: ContextVar["Span | None"] = ContextVar("sampan span", default=None)


class Exported(Protocol):
    """A span as its collector has it. Times are monotonic seconds."""

    def child(self, name: str, attributes: Attributes, began: float) -> "Exported":
        """A span within this one."""
        ...

    def event(self, name: str, at: float) -> None:
        """Something happened."""
        ...

    def end(self, at: float) -> None:
        """The work is done. May be called once."""
        ...

    def headers(self) -> Mapping[str, str]:
        """What a request to somebody else carries, so that its spans belong to this one. Lower-case names."""
        ...


class Span:
    """One piece of work. All pieces of one request share `steps`: what was done, each with the time it was done at."""

    __slots__ = ("_token", "began", "exported", "latencies", "steps")

    def __init__(self, began: float, latencies: dict[str, float] | None = None) -> None:
        """`began`: monotonic seconds. `latencies`: where to note what kinds of work took, in seconds."""
        self.began = began
        self.latencies: dict[str, float] = {} if latencies is None else latencies
        self.steps: list[tuple[float, str]] = []
        self.exported: Exported | None = None
        self._token: Token[Span | None] | None = None

    def enter(self) -> None:
        """Become the current span of this task."""
        self._token = _current.set(self)

    def leave(self) -> None:
        """Undo `enter`. What another task has entered ends with that task."""
        token, self._token = self._token, None
        if token is not None:
            with suppress(ValueError):
                _current.reset(token)

    def step(self, name: str) -> None:
        """Note what has just been done."""
        at = monotonic()
        steps = self.steps
        if len(steps) < STEPS_MAX:
            steps.append((at, name))
        if self.exported is not None:
            self.exported.event(name, at)

    def took(self, name: str, seconds: float, attributes: Attributes = _NO_ATTRIBUTES) -> None:
        """Note a piece of work that has just ended."""
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
        """A piece of work that only the collector hears of; no other may be under way in this span."""
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
        """A piece of work inside this one; the current span meanwhile. `latency`: as which kind of work it counts."""
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
    """The span of the request that this task works for."""
    return _current.get()


@contextmanager
def part_of_current(name: str, attributes: Attributes = _NO_ATTRIBUTES, latency: str = "") -> Iterator[Span | None]:
    """A piece of work inside the current span; None outside of any. See `Span.part`."""
    span = _current.get()
    if span is None:
        yield None
        return
    with span.part(name, attributes, latency) as part:
        yield part


def trace_headers() -> dict[str, str]:
    """What a request to somebody else carries from here; nothing where nobody collects spans."""
    span = _current.get()
    return dict(span.exported.headers()) if span is not None and span.exported is not None else {}
