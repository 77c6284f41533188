"""`FaultInjector`: applies the faults of a plan to requests.

Concurrency: no tasks. A fault is chosen without waiting, so that n requests at the same time have n occurrences.
"""

import asyncio
import random
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sampan.core.errors import Reason, StatusError
from sampan.server.request import Handler, Request, Response
from sampan.server.verbs.watch.frames import error_frame
from sampan.testing.faults.plan import (
    REASONS,
    Crash,
    EndStream,
    ErrorResponse,
    Fault,
    Latency,
    Plan,
    check,
)
from sampan.testing.faults.selection import (
    Objects,
    name_of,
    needs_object,
    selects_change,
    selects_head,
    selects_object,
    sent_object,
    stored,
)
from sampan.wire.negotiation import MediaType
from sampan.wire.protobuf import MEDIA_TYPE as PROTOBUF

_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Fired:
    """A fault that has occurred, and its request."""

    fault: Fault
    verb: str
    path: str
    user: str
    at_s: float
    """Time of the event loop."""

    def __str__(self) -> str:
        return f"{self.fault.title}: {self.verb} {self.path} by {self.user}"


@dataclass(slots=True)
class _Count:
    """Matching requests of a fault so far."""

    fault: Fault
    matches: int = 0

    def take(self) -> bool:
        """Count a matching request; return True if it gets the fault."""
        self.matches += 1
        late = self.matches - self.fault.which.occurrence
        return late >= 0 and (self.fault.which.times == 0 or late < self.fault.which.times)


@dataclass(slots=True)
class _Seen:
    """State of one request: its object before the verb ran."""

    name: str = ""
    before: Mapping[str, Any] | None = None
    sent: Mapping[str, Any] | None = None
    chosen: list[Fault] = field(default_factory=list)


class FaultInjector:
    """Applies a plan through `filter`, and records in `fired` what has occurred.

    `objects` reads stored objects. `crash` ends the operator and returns when it has ended; the request then gets no
    response. `on_fire` is called for each occurrence. Raises `PlanError` for a plan that cannot be used.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        objects: Objects,
        crash: Callable[[], Awaitable[None]] | None = None,
        on_fire: Callable[[Fired], None] | None = None,
    ) -> None:
        check(plan)
        self.fired: list[Fired] = []
        self.active = True
        """Set it to False to stop injecting faults."""
        self._counts = [_Count(fault) for fault in plan.faults]
        self._objects, self._crash, self._on_fire = objects, crash, on_fire
        self._random = random.Random(plan.seed)

    def unfired(self) -> list[Fault]:
        """Return the faults that have not occurred and are not optional."""
        fired = {id(each.fault) for each in self.fired}
        return [count.fault for count in self._counts if id(count.fault) not in fired and not count.fault.optional]

    def filter(self, handler: Handler) -> Handler:
        """Return the handler with the faults before and after it."""

        async def filter_(request: Request) -> Response:
            counts = [count for count in self._counts if selects_head(count.fault.which, request)]
            if not counts or not self.active:
                return await handler(request)
            seen = await self._seen(request, counts)
            fault = self._before(request, seen, counts)
            if fault is not None:
                response = await self._act(fault, request)
                if response is not None:
                    return response
            response = await handler(request)
            fault = self._after(request, seen, counts, response)
            if fault is None:
                return response
            return await self._act_after(fault, request, response)

        return filter_

    async def _seen(self, request: Request, counts: list[_Count]) -> _Seen:
        if not any(needs_object(count.fault.which) for count in counts):
            return _Seen(request.info.name)
        sent = await sent_object(request)
        name = name_of(request, sent)
        return _Seen(name, stored(self._objects, request.info, name), sent)

    def _before(self, request: Request, seen: _Seen, counts: list[_Count]) -> Fault | None:
        state = seen.before if seen.sent is None else seen.sent
        matching = (
            count
            for count in counts
            if count.fault.when == "before" and selects_object(count.fault.which, seen.name, state)
        )
        return self._chosen(request, matching)

    def _after(self, request: Request, seen: _Seen, counts: list[_Count], response: Response) -> Fault | None:
        """Choose one of the faults that occur after the verb.

        A refused request has done nothing, so it does not count.
        """
        counts = [count for count in counts if count.fault.when == "after"]
        if not counts or response.status >= 400:
            return None
        state = stored(self._objects, request.info, seen.name) if seen.name else None
        present = state or seen.sent or seen.before
        matching = (
            count
            for count in counts
            if selects_object(count.fault.which, seen.name, present)
            and selects_change(count.fault.which, seen.before, state)
        )
        return self._chosen(request, matching)

    def _chosen(self, request: Request, matching: Iterable[_Count]) -> Fault | None:
        """Count the request for all faults that match, and return the first one whose turn it is."""
        due = [count.fault for count in matching if count.take()]
        if not due or not self.active:
            return None
        user = request.user.name if request.user else ""
        fired = Fired(due[0], request.info.verb, request.wire.path, user, asyncio.get_running_loop().time())
        self.fired.append(fired)
        if self._on_fire is not None:
            self._on_fire(fired)
        return due[0]

    async def _act(self, fault: Fault, request: Request) -> Response | None:
        """Apply a fault. Return the response that replaces the verb's, or None to continue. Raises `StatusError`."""
        action = fault.what.action
        if isinstance(action, Latency):
            await asyncio.sleep(action.seconds + self._random.random() * action.jitter_seconds)
            return None
        if isinstance(action, ErrorResponse):
            raise status_error(action)
        if isinstance(action, Crash) and self._crash is not None:
            await self._crash()
        return Response(lost=True)

    async def _act_after(self, fault: Fault, request: Request, response: Response) -> Response:
        action = fault.what.action
        if isinstance(action, EndStream):
            if response.stream is not None:
                response.stream = _ending(response.stream, action, protobuf=PROTOBUF in response.content_type)
            return response
        replaced: Response | None = None
        try:
            replaced = await self._act(fault, request)
        finally:
            # A response that is not sent must release its watcher all the same.
            if (replaced is not None or isinstance(action, ErrorResponse)) and response.finished is not None:
                response.finished()
        return response if replaced is None else replaced


def status_error(reply: ErrorResponse) -> StatusError:
    """Return the error with the usual reason of its code."""
    reason = reply.reason or REASONS.get(reply.code, "")
    details = {"retryAfterSeconds": reply.retry_after_seconds} if reply.retry_after_seconds else None
    known = Reason(reason) if reason in set(Reason) else Reason.UNKNOWN
    return StatusError(known, reply.code, reply.message, details=details)


async def _ending(stream: AsyncIterator[bytes], action: EndStream, *, protobuf: bool) -> AsyncIterator[bytes]:
    """Yield the first events of a watch, then the error if there is one."""
    left = action.after_events
    try:
        if left:
            async for chunk in stream:
                for frame in _frames(bytes(chunk), protobuf=protobuf):
                    yield frame
                    left -= 1
                    if not left:
                        break
                if not left:
                    break
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    if action.error is not None:
        media = MediaType("protobuf", media_type=PROTOBUF) if protobuf else None
        yield error_frame(status_error(action.error), media)


def _frames(chunk: bytes, *, protobuf: bool) -> list[bytes]:
    """Split a chunk into its events."""
    if not protobuf:
        return chunk.splitlines(keepends=True)
    found, at = [], 0
    while at < len(chunk):
        end = at + _LENGTH.size + _LENGTH.unpack_from(chunk, at)[0]
        found.append(chunk[at:end])
        at = end
    return found
