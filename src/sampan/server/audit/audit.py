"""`Audit`: creates the events of requests and passes them to the backend.

Concurrency: requests wait for the backend, which may only queue the events. The end of a stream must not wait. Its
event goes through a queue of at most `ENDINGS_MAX` events, which the task of `run()` empties. When the queue is full,
events are dropped and counted.
Source: apiserver pkg/endpoints/filters/{audit,authn_audit}.go (1.36).
"""

import asyncio
import datetime as dt
from collections.abc import Callable

from sampan.core.clock import monotonic, unix_time
from sampan.core.errors import internal_error
from sampan.server.audit.backend import Backend
from sampan.server.audit.context import AuditContext
from sampan.server.audit.evaluator import PolicyEvaluator
from sampan.server.audit.event import AuditEvent
from sampan.server.audit.metrics import AuditMetrics
from sampan.server.request import Request

ENDINGS_MAX = 10_000
REQUEST_RECEIVED, RESPONSE_STARTED, RESPONSE_COMPLETE, PANIC = (
    "RequestReceived",
    "ResponseStarted",
    "ResponseComplete",
    "Panic",
)


class Stamps:
    """Formats times as MicroTimes. Caches the text of the last second, because formatting it is most of the work."""

    def __init__(self) -> None:
        self._second, self._text = -1, ""

    def stamp(self, moment_s: float) -> str:
        """Return the text of a time in seconds since 1970."""
        second = int(moment_s)
        if second != self._second:
            self._second, self._text = second, dt.datetime.fromtimestamp(second, dt.UTC).isoformat()[:19]
        return f"{self._text}.{int((moment_s - second) * 1e6):06d}Z"


class Audit:
    """Audit of one server. `run()` must run as a task."""

    def __init__(
        self,
        policy: PolicyEvaluator,
        backend: Backend,
        metrics: AuditMetrics,
        *,
        now: Callable[[], float] = unix_time,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`now` returns seconds since 1970. `clock` is the clock of `Request.received`."""
        self._policy, self._backend, self.metrics = policy, backend, metrics
        self._now, self._clock, self._stamp = now, clock, Stamps().stamp
        self._endings: asyncio.Queue[AuditEvent] = asyncio.Queue(ENDINGS_MAX)

    async def run(self) -> None:
        """Run the backend and record the ends of streams until cancelled. All queued events are recorded before it
        returns.
        """
        async with asyncio.TaskGroup() as group:
            group.create_task(self._backend.run(), name="audit backend")
            try:
                while True:
                    await self._backend.process([await self._endings.get()])
            finally:
                while not self._endings.empty():
                    await self._backend.process([self._endings.get_nowait()])

    def begin(self, request: Request) -> AuditContext | None:
        """Return the audit context of a request, or None if the policy does not select it."""
        decision = self._policy.evaluate(request.user, request.info)
        self.metrics.levels.add((decision.level,))
        if not decision.rank:
            return None
        age_s = self._clock() - request.wire.received if request.wire.received else 0.0
        context = AuditContext(request, decision, self._stamp(self._now() - age_s))
        request.body_read = context.body_read
        return context

    async def received(self, context: AuditContext) -> None:
        """Record the stage RequestReceived. Raises 500 if a blocking-strict backend fails."""
        if context.wants(REQUEST_RECEIVED):
            self.metrics.events.add(())
            if not await self._backend.process([context.event(REQUEST_RECEIVED, context.received)]):
                self.metrics.rejected.add(())
                raise internal_error("failed to store audit event")

    async def reached(self, context: AuditContext, stage: str) -> None:
        """Record a stage after RequestReceived."""
        if context.wants(stage):
            self.metrics.events.add(())
            await self._backend.process([context.event(stage, self._stamp(self._now()))])

    def ended(self, context: AuditContext) -> None:
        """Record the stage ResponseComplete of a stream. Does not wait."""
        if not context.wants(RESPONSE_COMPLETE):
            return
        self.metrics.events.add(())
        event = context.event(RESPONSE_COMPLETE, self._stamp(self._now()))
        try:
            self._endings.put_nowait(event)
        except asyncio.QueueFull:
            self.metrics.failed("audit", "too many streams have ended", [event])
