"""`Trial`: the fault of one run of a scenario.

Concurrency: each trial has a separate event loop, in virtual time. The fault acts in an interceptor of requests.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import TransportError, TransportTimeout
from sampan.client.transport import HttpRequest, HttpResponse
from sampan.core.event_loop.task_scope import TaskScope
from sampan.server.request import UserInfo
from sampan.testing.cluster import ADMIN, TEST, Cluster
from sampan.testing.explore.faults.contention import OTHER, Contention, is_made_by_operator
from sampan.testing.explore.faults.dependencies import DEPENDENCY, Dependencies
from sampan.testing.explore.faults.drift_of import drift
from sampan.testing.explore.faults.held import (
    Held,
    ServerFailure,
    may_be_old,
    name_in,
    no_streams,
    resource_of,
    starts_a_stream,
)
from sampan.testing.explore.faults.refusals import Refusals
from sampan.testing.explore.faults.stale import StaleServer
from sampan.testing.explore.operator_life import CANDIDATE, HIDDEN_S_MAX, OperatorLife
from sampan.testing.explore.plan import (
    CONFLICT,
    CRASH_AFTER,
    CRASH_BEFORE,
    DOWN,
    DRIFT_CHANGED,
    DRIFT_DELETED,
    HIDDEN,
    LATE,
    LOST,
    LOST_LEASE,
    OUTAGE,
    OVERTAKEN,
    REFUSED,
    SERVER_ERROR,
    SLOW,
    STALE,
    TIMEOUT,
    PlannedFault,
    WriteId,
)
from sampan.testing.explore.trial_points import OPERATOR, TrialPoints
from sampan.testing.requests import Proceed, SentRequest

DRIFT: Final = "drift"
SLOW_S: Final = 20.0
"""Virtual seconds by which a response is late: less than the client's limit of 30 s."""
LATE_S: Final = 5.0
"""Virtual seconds by which an event is late: less than the time for which a read waits for an own write."""
TIMEOUT_S: Final = 30.0
"""Virtual seconds after which a client gives a request up."""
DRIFT_S: Final = 5.0
"""Virtual seconds for which the user waits after a drift."""
_AT_ONCE_S: Final = 0.5
"""Virtual seconds in which changes of the user come at once: less than the pause of `settled`."""


@dataclass(slots=True)
class Trial:
    """Fault of one run. `writes` records the writes that succeeded, in their order."""

    cluster: Cluster
    plan: PlannedFault | None
    lease: str = ""
    fired: bool = False
    writes: list[WriteId] = field(default_factory=list)
    owned: list[WriteId] = field(default_factory=list)
    """Writes of the operator that created an object with an owner."""
    broken: list[str] = field(default_factory=list)
    reads: list[WriteId] = field(default_factory=list)
    """Reads of the operator. Of equal ones between the same two writes, and of those of a cache, only the first."""
    requests: dict[WriteId, HttpRequest] = field(default_factory=dict)
    """Changes of existing objects by the user, which another run may send early."""
    early: Mapping[WriteId, HttpRequest] = field(default_factory=dict)
    """Changes of the user in the run without a fault."""
    life: OperatorLife = field(init=False)
    points: TrialPoints = field(init=False)
    contention: Contention = field(init=False)
    dependencies: Dependencies = field(init=False)
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    user: UserInfo = ADMIN
    """User of the operator."""
    _drifting: SentRequest | None = None
    _refusals: Refusals = field(default_factory=Refusals)
    _read_before: set[tuple[Any, ...]] = field(default_factory=set)
    _ended: bool = False
    """True if the second write of the plan has occurred."""
    _shown: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: TaskScope = field(default_factory=TaskScope)

    def __post_init__(self) -> None:
        self._shown.set()
        stale = StaleServer(self.cluster, self.user)
        self.life = OperatorLife(self.cluster, self.lease, stale, self._tasks, self.broken)
        self.dependencies = Dependencies(self.cluster, self.plan, self._tasks)
        self.points = TrialPoints(self.plan, self._around, self._interrupt, self.writes)
        self.contention = Contention(self.cluster, self.plan, self.early)

    async def intercept(self, sent: SentRequest, proceed: Proceed) -> HttpResponse:
        """Send a request, with the fault that the plan has for it."""
        if sent.actor == OPERATOR and self.life.is_dead:
            raise TransportError("the operator has crashed", sent=False)
        what = f"{sent.info.verb} {sent.info.resource} {sent.info.name}"
        if sent.actor == OPERATOR and (fault := self.life.outage.check(what)):
            self.broken.append(fault)
        if sent.actor == TEST:
            # A user waits until the operator has caught up, as for any other work of it.
            await self.life.caught_up.wait()
            await self.dependencies.hold(sent)
        if sent.is_write and sent.actor in (DRIFT, CANDIDATE, DEPENDENCY, OTHER):
            return await proceed()
        if sent.is_write and not (self.lease and sent.info.resource == "leases"):
            return await self._write(sent, proceed)
        if sent.actor != OPERATOR or not sent.info.resource or (self.lease and sent.info.resource == "leases"):
            return await proceed()
        return await self._read(sent, proceed)

    async def _read(self, sent: SentRequest, proceed: Proceed) -> HttpResponse:
        """Send a read of the operator, with the fault of the plan."""
        read, plan = self._identified(sent), self.plan
        of_cache = may_be_old(sent)
        kind = (sent.info.verb, *read.place, 0 if of_cache else len(self.writes))
        if kind not in self._read_before:
            self._read_before.add(kind)
            self.reads.append(read)
        if plan is not None and plan.at == read and not self.fired:
            return await self._read_with_fault(sent, plan, proceed)
        if self.dependencies.is_read(sent):
            return await self.dependencies.read(read, proceed)
        if plan is None or (sent.info.resource != plan.at.place[0] and plan.fault != OUTAGE):
            return await proceed()
        if (old := self.life.stale.view) is not None and starts_a_stream(sent):
            return no_streams()
        if old is not None and of_cache:
            return await old.send(sent.request)
        response = await proceed()
        if plan.fault == OUTAGE and sent.info.verb == "watch":
            self.life.outage.opened(response)
        return Held(response, self._shown) if plan.fault in (HIDDEN, LATE) else response

    async def _read_with_fault(self, sent: SentRequest, plan: PlannedFault, proceed: Proceed) -> HttpResponse:
        self.fired = True
        if plan.fault == REFUSED:
            raise self._refusals.begin(plan.at)
        if plan.fault == SERVER_ERROR:
            return ServerFailure(500, "InternalError", "Internal error occurred: the database is not available")
        if plan.fault == OUTAGE:
            raise self.life.begin_outage()
        if plan.fault in (TIMEOUT, SLOW):
            self.life.caught_up.clear()
            response = await proceed() if plan.fault == SLOW else None
            await asyncio.sleep(SLOW_S if response else TIMEOUT_S)
            self.life.spawn(self.life.catch_up_in(1.0))
            if response is not None:
                return response
            raise TransportTimeout(f"no response within {TIMEOUT_S:.0f} s", sent=True)
        return await proceed()

    async def heal(self) -> None:
        """End a fault that still lasts."""
        await self.dependencies.arrived()
        self._shown.set()
        await self.life.start_again()
        await self.life.read_current_state()

    async def aclose(self) -> None:
        """End the tasks and the old view."""
        self._tasks.cancel()
        await self.life.read_current_state()
        await self.life.stale.aclose()

    def _identified(self, sent: SentRequest) -> WriteId:
        info = sent.info
        key = (sent.actor, info.verb, resource_of(sent), info.namespace, info.name or name_in(sent.request.body))
        self._counts[key] += 1
        return WriteId(*key, occurrence=self._counts[key])

    async def _write(self, sent: SentRequest, proceed: Proceed) -> HttpResponse:
        write = self._identified(sent)
        if sent.actor == OPERATOR:
            self.broken += self._refusals.repeated(write)
            if self.life.is_deposed:
                self.broken.append(f"the operator has lost its lease, but writes: {write}")
            if plan_is(self.plan, write, CONFLICT, OVERTAKEN) and not self.contention.fired:
                return await self._contend(sent, write, proceed)
            if b'"ownerReferences"' in sent.request.body and write.verb != "delete":
                self.owned.append(write)
        elif sent.actor == TEST and write.verb in ("update", "patch"):
            self.requests[write] = sent.request
        if plan_is(self.plan, write, DRIFT_CHANGED, DRIFT_DELETED):
            self._drifting = sent
        response: HttpResponse = await self._around(write, proceed, lambda found: found.status < 300)
        return response

    async def _contend(self, sent: SentRequest, write: WriteId, proceed: Proceed) -> HttpResponse:
        """Send a write after another client has changed its object."""
        is_made = is_made_by_operator(write.place, self.writes, self.dependencies.created)
        response, overwritten = await self.contention.around(sent, proceed, is_made=is_made)
        self.fired = self.contention.fired
        if overwritten:
            self.broken.append(overwritten)
        if response.status < 300:
            self.writes.append(write)
            await self.dependencies.done(write)
        return response

    async def _around(
        self, write: WriteId, proceed: Callable[[], Awaitable[Any]], succeeded: Callable[[Any], bool]
    ) -> Any:
        plan = self.plan
        at = plan is not None and not self.fired and write == plan.at
        if at:
            await self._before()
        response = await proceed()
        if succeeded(response):
            self.writes.append(write)
            await self.dependencies.done(write)
        if at:
            await self._after()
        if plan is not None and self.fired and write == plan.until:
            await self._end()
        return response

    async def _before(self) -> None:
        assert self.plan is not None
        self.fired = True
        if self.plan.fault == CRASH_BEFORE:
            await self.life.crash()
        elif self.plan.fault == REFUSED:
            raise self._refusals.begin(self.plan.at)
        elif self.plan.fault == STALE:
            await self.life.stale.keep()
        elif self.plan.fault == OUTAGE:
            raise self.life.begin_outage()
        elif self.plan.fault == HIDDEN:
            self._shown.clear()
            self.life.spawn(self._show_later())
        elif self.plan.fault == LATE:
            self._shown.clear()
            self.life.spawn(self._show_late())

    async def _after(self) -> None:
        assert self.plan is not None
        if self.plan.fault == CRASH_AFTER:
            await self.life.crash()
        elif self.plan.fault == LOST:
            raise TransportError("the connection was lost before the response", sent=True)
        elif self.plan.fault == SLOW:
            self.life.caught_up.clear()
            await asyncio.sleep(SLOW_S)
            self.life.caught_up.set()
        elif self.plan.fault == DOWN:
            self.life.is_dead = self.life.is_down = True
            self.life.spawn(self.life.stay_down())
            await asyncio.get_running_loop().create_future()
        elif self.plan.fault in (DRIFT_CHANGED, DRIFT_DELETED):
            self.life.spawn(self._drift())
        elif self.plan.fault == LOST_LEASE:
            await self.life.take_the_lease()

    async def _drift(self) -> None:
        """Let another actor change the object of the write, after the operator has had time for its reconcile."""
        assert self.plan is not None
        assert self._drifting is not None
        self.life.caught_up.clear()
        await asyncio.sleep(1.0)
        client = self.cluster.client(actor=DRIFT)
        self.fired = await drift(client, self._drifting, deleted=self.plan.fault == DRIFT_DELETED)
        await asyncio.sleep(DRIFT_S)
        self.life.caught_up.set()

    def _interrupt(self) -> None:
        """Act at an await: take the lease, or stop the operator as after SIGTERM and start it again."""
        self.fired = True
        is_lost = self.plan is not None and self.plan.fault == LOST_LEASE
        self.life.spawn(self.life.take_the_lease() if is_lost else self.life.stop_and_start())

    @property
    def progress(self) -> tuple[bool, bool, bool]:
        """Parts of the fault that have occurred."""
        return self.fired, self._ended, self.dependencies.fired

    async def _end(self) -> None:
        assert self.plan is not None
        self._ended = True
        if self.plan.fault == HIDDEN:
            self._shown.set()
        elif self.plan.fault == DOWN:
            await self.life.start_again()
        elif self.plan.fault == STALE and self.life.stale.is_unread:
            self.life.spawn(self.life.restart(stale=True))

    async def _show_later(self) -> None:
        await asyncio.sleep(HIDDEN_S_MAX)
        self._shown.set()

    async def _show_late(self) -> None:
        """Show the late events. A waiting user waits until then; changes at once come before."""
        await asyncio.sleep(_AT_ONCE_S)
        self.life.caught_up.clear()
        await asyncio.sleep(LATE_S - _AT_ONCE_S)
        self._shown.set()
        await self.life.catch_up_in(1.0)


def plan_is(plan: PlannedFault | None, write: WriteId, *faults: str) -> bool:
    """Return True if a plan has one of these faults at a write."""
    return plan is not None and plan.at == write and plan.fault in faults
