"""`OperatorLife`: ends and starts the operator of a trial: crashes, lost leases, outages."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import TransportError
from sampan.core.event_loop.background import background
from sampan.core.event_loop.task_scope import TaskScope
from sampan.operator.leader_election import LeaderElectionLost
from sampan.testing.cluster import Cluster
from sampan.testing.explore.faults.outage import OUTAGE_S, REST_S, Outage
from sampan.testing.explore.faults.stale import StaleServer
from sampan.testing.faults.lease import give_lease, take_lease
from sampan.testing.operators.running import Running

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


@dataclass(slots=True)
class OperatorLife:
    """Ends and starts of the operator in a trial. `broken` gets lines about an operator that does not end."""

    cluster: Cluster
    lease: str
    stale: StaleServer
    tasks: TaskScope
    broken: list[str]
    outage: Outage = field(default_factory=Outage)
    running: Running | None = None
    is_dead: bool = False
    """True while the operator must not send requests."""
    is_deposed: bool = False
    """True while another candidate has the lease, after the time in which the operator must notice it."""
    is_down: bool = False
    """True from a crash until the restart, for the fault `down`."""
    caught_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while the user need not wait for the operator."""
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.caught_up.set()

    async def take_the_lease(self) -> None:
        """Let another candidate take the lease, and give it back later."""
        assert self.running is not None
        self.running.excused = (LeaderElectionLost,)
        await take_lease(self.cluster.client(actor=CANDIDATE), "default", self.lease)
        self.spawn(self._lose_lease())

    async def _lose_lease(self) -> None:
        """Wait until the operator has ended without its lease, then start it again.

        The stopped operator may still have tasks that write.
        """
        assert self.running is not None
        self.caught_up.clear()
        await asyncio.sleep(LEASE_S)
        self.is_deposed = True
        await asyncio.sleep(LEASE_LOST_S - LEASE_S)
        self.is_deposed = False
        if self.running.is_running:
            self.broken.append("the operator has lost its lease, but runs on")
            await self.running.crash()
        else:
            await self.running.ended()
        self.is_dead = True
        await asyncio.sleep(1.0)
        self.is_dead = False
        await give_lease(self.cluster.client(actor=CANDIDATE), "default", self.lease)
        self.running.restart()
        await asyncio.sleep(_LEADS_S)
        self.caught_up.set()

    async def stop_and_start(self) -> None:
        """Stop the operator as after SIGTERM, and start it again."""
        assert self.running is not None
        await self.running.stop()
        self.running.restart()

    async def crash(self) -> None:
        """Crash the operator, whose request this is: the call does not return."""
        self.is_dead = True
        self.spawn(self.restart())
        await asyncio.get_running_loop().create_future()

    async def restart(self, *, stale: bool = False) -> None:
        """Crash the operator and start it again. With `stale`, it reads the old state for `STALE_S` seconds."""
        assert self.running is not None
        self.is_dead = True
        await self.running.crash()
        if stale and self.stale.is_unread:
            self.caught_up.clear()
            await self.stale.show()
        self.is_dead = False
        self.running.restart()
        if self.lease and not stale:
            self.caught_up.clear()
            await asyncio.sleep(_LEADS_S)
            self.caught_up.set()
        if stale:
            await asyncio.sleep(STALE_S)
            await self.read_current_state()

    async def stay_down(self) -> None:
        """Stop the operator, and start it again if the write that ends the fault does not occur."""
        assert self.running is not None
        await self.running.crash()
        self._stopped.set()
        await asyncio.sleep(HIDDEN_S_MAX)
        await self.start_again()

    async def start_again(self) -> None:
        """Start an operator that is down."""
        if self.is_down:
            self.is_down = False
            await self._stopped.wait()
            assert self.running is not None
            self.is_dead = False
            self.running.restart()

    def begin_outage(self) -> TransportError:
        """Begin the outage. Return the error of the request at its beginning."""
        assert self.running is not None
        self.running.excused = (LeaderElectionLost,)
        self.caught_up.clear()
        self.outage.begin()
        self.spawn(self._recover())
        return TransportError("connection refused", sent=False)

    async def _recover(self) -> None:
        """Wait until the outage is over. Restart an operator that has ended without its lease."""
        assert self.running is not None
        await asyncio.sleep(OUTAGE_S)
        if self.lease and not self.running.is_running:
            await self.running.ended()
            self.running.restart()
        await self.catch_up_in(REST_S)

    async def read_current_state(self) -> None:
        """End the old view, and let the user continue."""
        await self.stale.hide()
        self.caught_up.set()

    async def catch_up_in(self, delay_s: float) -> None:
        """Let the user continue, after the operator has had time for its reconcile."""
        await asyncio.sleep(delay_s)
        self.caught_up.set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a part of the fault. A user waits for the operator, which does not know when a fault ends."""
        with background():
            self.tasks.begin(work, "fault")
