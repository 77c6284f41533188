"""`OperatorLife`: the part of a trial that ends and starts the operator: crashes, lost leases, outages."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from sampan.client import TransportError
from sampan.operator.leader_election import LeaderElectionLost
from sampan.testing.cluster import Cluster
from sampan.testing.explore.faults.outage import OUTAGE_S, REST_S, Outage
from sampan.testing.explore.plan import LOST_LEASE, PlannedFault
from sampan.testing.faults.lease import give_lease, take_lease
from sampan.testing.operators.running import Running
from sampan.testing.servers.logical_server import LogicalServer

CANDIDATE: Final = "another candidate"
STALE_S: Final = 5.0
"""Virtual seconds for which the restarted operator works with its old view."""
HIDDEN_S_MAX: Final = 30.0
"""Virtual seconds after which a hidden state is shown and a stopped operator starts: the scenario may wait for it."""
LEASE_S: Final = 10.0
"""Virtual seconds after which an operator that has lost its lease must not write: the deadline of its renewal."""
LEASE_LOST_S: Final = 40.0
"""Virtual seconds until the other candidate gives the lease back."""
_LEADS_S: Final = 20.0
"""Virtual seconds in which a new candidate gets the lease of a crashed one."""


class OperatorLife:
    """Ends and starts of the operator in a trial. `Trial` is its only subclass, and has all state."""

    cluster: Cluster
    plan: PlannedFault | None
    lease: str
    running: Running | None
    fired: bool
    broken: list[str]
    _dead: bool
    _deposed: bool
    _down: bool
    _stopped: asyncio.Event
    _caught_up: asyncio.Event
    _stale: LogicalServer | None
    _outage: Outage

    async def _take_lease(self) -> None:
        assert self.running is not None
        self.running.excused = (LeaderElectionLost,)
        await take_lease(self.cluster.client(actor=CANDIDATE), "default", self.lease)
        self._spawn(self._lose_lease())

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
        """Act at an await: take the lease, or stop the operator as after SIGTERM and start it again."""
        self.fired = True
        if self.plan is not None and self.plan.fault == LOST_LEASE:
            self._spawn(self._take_lease())
            return
        self._spawn(self._stop_and_start())

    async def _stop_and_start(self) -> None:
        assert self.running is not None
        await self.running.stop()
        self.running.restart()

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

    def _begin_outage(self) -> TransportError:
        """Begin the outage. Return the error of the request at its beginning."""
        assert self.running is not None
        self.running.excused = (LeaderElectionLost,)
        self._caught_up.clear()
        self._outage.begin()
        self._spawn(self._recover())
        return TransportError("connection refused", sent=False)

    async def _recover(self) -> None:
        """Wait until the outage is over. Restart an operator that has ended without its lease."""
        assert self.running is not None
        await asyncio.sleep(OUTAGE_S)
        if self.lease and not self.running.is_running:
            await self.running.ended()
            self.running.restart()
        await self._catch_up_in(REST_S)

    async def _freeze(self, stale: LogicalServer) -> None:
        raise NotImplementedError

    async def _unfreeze(self) -> None:
        raise NotImplementedError

    async def _catch_up_in(self, delay_s: float) -> None:
        raise NotImplementedError

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        raise NotImplementedError
