"""`Trial`: the fault of one run of a scenario.

Concurrency: each trial has a separate event loop, in virtual time. The fault acts in an interceptor of requests.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import TransportError
from sampan.client.transport import HttpResponse
from sampan.core.task_scope import TaskScope
from sampan.operator.leader_election import LeaderElectionLost
from sampan.server.request import UserInfo
from sampan.testing.cluster import ADMIN, TEST, Cluster
from sampan.testing.explore.dependencies import DEPENDENCY, Dependencies
from sampan.testing.explore.drift_of import drift
from sampan.testing.explore.held import Held, NoStreams, may_be_old, name_in, resource_of, starts_a_stream
from sampan.testing.explore.plan import (
    CRASH_AFTER,
    CRASH_BEFORE,
    DOWN,
    DRIFT_CHANGED,
    DRIFT_DELETED,
    HIDDEN,
    LOST,
    LOST_LEASE,
    REFUSED,
    SLOW,
    STALE,
    Plan,
    WriteId,
)
from sampan.testing.explore.refusals import Refusals
from sampan.testing.explore.trial_points import OPERATOR, TrialPoints
from sampan.testing.faults.lease import give_lease, take_lease
from sampan.testing.in_process import InProcessTransport
from sampan.testing.logical_server import LogicalServer, ServerSettings, template
from sampan.testing.operators import Running
from sampan.testing.requests import Proceed, SentRequest

DRIFT: Final = "drift"
CANDIDATE: Final = "another candidate"
STALE_S: Final = 5.0
"""Virtual seconds for which the restarted operator works with its old view."""
HIDDEN_S_MAX: Final = 30.0
"""Virtual seconds after which a hidden state is shown and a stopped operator starts: the scenario may wait for it."""
SLOW_S: Final = 20.0
"""Virtual seconds by which a response is late: less than the client's limit of 30 s."""
LEASE_S: Final = 10.0
"""Virtual seconds after which an operator that has lost its lease must not write: the deadline of its renewal."""
LEASE_LOST_S: Final = 40.0
"""Virtual seconds until the other candidate gives the lease back."""
DRIFT_S: Final = 5.0
"""Virtual seconds for which the user waits after a drift."""
_LEADS_S: Final = 20.0
"""Virtual seconds in which a new candidate gets the lease of a crashed one."""


@dataclass(slots=True)
class Trial:
    """Fault of one run. `writes` records the writes that succeeded, in their order."""

    cluster: Cluster
    plan: Plan | None
    lease: str = ""
    running: Running | None = None
    fired: bool = False
    writes: list[WriteId] = field(default_factory=list)
    owned: list[WriteId] = field(default_factory=list)
    """Writes of the operator that created an object with an owner."""
    broken: list[str] = field(default_factory=list)
    points: TrialPoints = field(init=False)
    dependencies: Dependencies = field(init=False)
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    user: UserInfo = ADMIN
    """User of the operator."""
    _drifting: SentRequest | None = None
    _refusals: Refusals = field(default_factory=Refusals)
    _dead: bool = False
    _deposed: bool = False
    """True while another candidate has the lease, after the time in which the operator must notice it."""
    _down: bool = False
    """True from a crash until the restart, for the fault `down`."""
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _stale: LogicalServer | None = None
    _stale_view: InProcessTransport | None = None
    _shown: asyncio.Event = field(default_factory=asyncio.Event)
    _caught_up: asyncio.Event = field(default_factory=asyncio.Event)
    _tasks: TaskScope = field(default_factory=TaskScope)

    def __post_init__(self) -> None:
        self._shown.set()
        self._caught_up.set()
        self.dependencies = Dependencies(self.cluster, self.plan, self._tasks)
        self.points = TrialPoints(self.plan, self._around, self._interrupt, self.writes)

    async def intercept(self, sent: SentRequest, proceed: Proceed) -> HttpResponse:
        """See `Interceptor`."""
        if sent.actor == OPERATOR and self._dead:
            raise TransportError("the operator has crashed", sent=False)
        if sent.actor == TEST:
            # A user waits until the operator has caught up, as for any other work of it.
            await self._caught_up.wait()
            await self.dependencies.hold(sent)
        if sent.is_write and sent.actor in (DRIFT, CANDIDATE, DEPENDENCY):
            return await proceed()
        if sent.is_write and not (self.lease and sent.info.resource == "leases"):
            return await self._write(sent, proceed)
        if sent.actor == OPERATOR and self.dependencies.is_read(sent):
            return await self.dependencies.read(self._identified(sent), proceed)
        if sent.actor != OPERATOR or self.plan is None or sent.info.resource != self.plan.at.place[0]:
            return await proceed()
        if self._stale_view is not None and starts_a_stream(sent):
            return NoStreams()
        if self._stale_view is not None and may_be_old(sent):
            return await self._stale_view.send(sent.request)
        response = await proceed()
        return Held(response, self._shown) if self.plan.fault == HIDDEN else response

    async def heal(self) -> None:
        """End a fault that still lasts."""
        await self.dependencies.arrived()
        self._shown.set()
        await self._start_again()
        await self._unfreeze()

    async def aclose(self) -> None:
        """End the tasks and the old view."""
        self._tasks.cancel()
        await self._unfreeze()
        if self._stale is not None:
            stale, self._stale = self._stale, None
            await stale.stop()

    def _identified(self, sent: SentRequest) -> WriteId:
        info = sent.info
        key = (sent.actor, info.verb, resource_of(sent), info.namespace, info.name or name_in(sent.request.body))
        self._counts[key] += 1
        return WriteId(*key, occurrence=self._counts[key])

    async def _write(self, sent: SentRequest, proceed: Proceed) -> HttpResponse:
        write = self._identified(sent)
        if sent.actor == OPERATOR:
            self.broken += self._refusals.repeated(write)
            if self._deposed:
                self.broken.append(f"the operator has lost its lease, but writes: {write}")
            if b'"ownerReferences"' in sent.request.body and write.verb != "delete":
                self.owned.append(write)
        if self.plan is not None and write == self.plan.at and self.plan.fault in (DRIFT_CHANGED, DRIFT_DELETED):
            self._drifting = sent
        response: HttpResponse = await self._around(write, proceed, lambda found: found.status < 300)
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
            await self._crash()
        elif self.plan.fault == REFUSED:
            raise self._refusals.begin(self.plan.at)
        elif self.plan.fault == STALE:
            server = await self.cluster.server()
            self._stale = LogicalServer(
                server.store.fork(), template().parts, ServerSettings(server.settings.admission)
            )
        elif self.plan.fault == HIDDEN:
            self._shown.clear()
            self._spawn(self._show_later())

    async def _after(self) -> None:
        assert self.plan is not None
        if self.plan.fault == CRASH_AFTER:
            await self._crash()
        elif self.plan.fault == LOST:
            raise TransportError("the connection was lost before the response", sent=True)
        elif self.plan.fault == SLOW:
            self._caught_up.clear()
            await asyncio.sleep(SLOW_S)
            self._caught_up.set()
        elif self.plan.fault == DOWN:
            self._dead = self._down = True
            self._spawn(self._stay_down())
            await asyncio.get_running_loop().create_future()
        elif self.plan.fault in (DRIFT_CHANGED, DRIFT_DELETED):
            self._spawn(self._drift())
        elif self.plan.fault == LOST_LEASE:
            assert self.running is not None
            self.running.excused = (LeaderElectionLost,)
            await take_lease(self.cluster.client(actor=CANDIDATE), "default", self.lease)
            self._spawn(self._lose_lease())

    async def _drift(self) -> None:
        """Let another actor change the object of the write, after the operator has had time for its reconcile."""
        assert self.plan is not None
        assert self._drifting is not None
        self._caught_up.clear()
        await asyncio.sleep(1.0)
        client = self.cluster.client(actor=DRIFT)
        self.fired = await drift(client, self._drifting, deleted=self.plan.fault == DRIFT_DELETED)
        await asyncio.sleep(DRIFT_S)
        self._caught_up.set()

    async def _lose_lease(self) -> None:
        """Wait until the operator has ended without its lease, then start it again.

        The stopped operator may still have tasks that write.
        """
        assert self.running is not None
        self._caught_up.clear()
        await asyncio.sleep(LEASE_S)
        self._deposed = True
        await asyncio.sleep(LEASE_LOST_S - LEASE_S)
        self._deposed = False
        if self.running.is_running:
            self.broken.append("the operator has lost its lease, but runs on")
            await self.running.crash()
        else:
            await self.running.ended()
        self._dead = True
        await asyncio.sleep(1.0)
        self._dead = False
        await give_lease(self.cluster.client(actor=CANDIDATE), "default", self.lease)
        self.running.restart()
        await asyncio.sleep(_LEADS_S)
        self._caught_up.set()

    def _interrupt(self) -> None:
        """Stop the operator as at the end of the grace period after SIGTERM, and start it again."""
        self.fired = True
        self._spawn(self._stop_and_start())

    async def _stop_and_start(self) -> None:
        assert self.running is not None
        await self.running.stop()
        self.running.restart()

    async def _end(self) -> None:
        assert self.plan is not None
        if self.plan.fault == HIDDEN:
            self._shown.set()
        elif self.plan.fault == DOWN:
            await self._start_again()
        elif self.plan.fault == STALE and self._stale is not None and self._stale_view is None:
            self._spawn(self._restart(stale=True))

    async def _crash(self) -> None:
        """Crash the operator, whose request this is: the call does not return."""
        self._dead = True
        self._spawn(self._restart())
        await asyncio.get_running_loop().create_future()

    async def _restart(self, *, stale: bool = False) -> None:
        assert self.running is not None
        self._dead = True
        await self.running.crash()
        if stale and self._stale is not None:
            await self._freeze(self._stale)
        self._dead = False
        self.running.restart()
        if self.lease and not stale:
            self._caught_up.clear()
            await asyncio.sleep(_LEADS_S)
            self._caught_up.set()
        if stale:
            await asyncio.sleep(STALE_S)
            await self._unfreeze()

    async def _stay_down(self) -> None:
        """Stop the operator, and start it again if the write that ends the fault does not occur."""
        assert self.running is not None
        await self.running.crash()
        self._stopped.set()
        await asyncio.sleep(HIDDEN_S_MAX)
        await self._start_again()

    async def _start_again(self) -> None:
        """Start an operator that is down."""
        if self._down:
            self._down = False
            await self._stopped.wait()
            assert self.running is not None
            self._dead = False
            self.running.restart()

    async def _freeze(self, stale: LogicalServer) -> None:
        self._caught_up.clear()
        await stale.start()
        headers = {"authorization": f"Bearer {stale.users.token_of(self.user)}", "user-agent": OPERATOR}
        self._stale_view = InProcessTransport(stale.api.handler, headers=headers)

    async def _unfreeze(self) -> None:
        """Let the operator read the current state: its watches of the old state end."""
        view, self._stale_view = self._stale_view, None
        if view is not None:
            await view.aclose()
        self._caught_up.set()

    async def _show_later(self) -> None:
        await asyncio.sleep(HIDDEN_S_MAX)
        self._shown.set()

    def _spawn(self, work: Any) -> None:
        self._tasks.begin(work, "fault")
