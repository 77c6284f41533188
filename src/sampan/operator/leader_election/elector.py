"""`LeaderElector`: works while it holds a lease.

Concurrency: `run` owns two tasks while it leads: the work, and the renewal. The work ends before the lease is given
up, whatever ends it, and the lease is renewed until the work has ended.

Correctness rests on the own clock's differences alone: a candidate takes over when it has seen no change of the lease
for its whole duration; the leader stops its work when it could not renew for the shorter `renew_deadline_s`, counted
from before the request that last succeeded. A process that stood still for longer finds that it no longer leads only
when it runs again: until then `is_over` says so, and the manager's client writes nothing (`guard.py`).
Source: client-go tools/leaderelection/leaderelection.go (1.36). Otherwise than there, a leader that reads that another
holds the lease gives up at once, and a candidate tries at the very end of the lease that it has seen.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, Final

from prometheus_client import CollectorRegistry

from sampan.client.errors import ClientError, Conflict
from sampan.core.seconds import seconds
from sampan.operator.leader_election.config import JITTER_FACTOR, LeaderElectionConfig
from sampan.operator.leader_election.lease_lock import Lease, LeaseRecord
from sampan.operator.leader_election.metrics import LeaderElectionMetrics

_log = logging.getLogger("sampan.leader_election")

_AFTER_THE_END_S: Final = 0.001
"""Timers may be early by a tick."""


class LeaderElectionLost(RuntimeError):
    """The lease could not be renewed, or another took it: the work was ended, and so should the process."""


class LeaderElector:
    """One candidate for one lease. To be run once."""

    def __init__(
        self,
        config: LeaderElectionConfig,
        lease: Lease,
        *,
        on_new_leader: Callable[[str], None] | None = None,
        metrics: LeaderElectionMetrics | None = None,
    ) -> None:
        """`on_new_leader` is told of each leader that is seen, also of oneself; it must not take long."""
        self.config = config
        self._lease = lease
        self._on_new_leader = on_new_leader
        metrics = metrics or LeaderElectionMetrics(CollectorRegistry())
        self._leading = metrics.leading.labels(config.name)
        self._slow_path = metrics.slow_path.labels(config.name)
        self._observed = LeaseRecord("", 0)
        self._observed_at = self._observed_real = float("-inf")
        self._leads = False
        self._reported = ""
        self._lost = ""

    @property
    def leader(self) -> str:
        """The identity that was last seen to hold the lease; empty when none was."""
        return self._observed.holder

    def is_leader(self) -> bool:
        """Whether this candidate holds the lease, and it is still valid by the own clock."""
        return self._observed.holder == self.config.identity and self._is_valid()

    def is_over(self) -> bool:
        """Whether the work runs that only the leader may do, and the lease for it is not valid any more.

        By a clock of its own too: the event loop's may be late while a callback runs, and stands while the machine
        sleeps.
        """
        if not self._leads:
            return False
        return not self.is_leader() or seconds() >= self._observed_real + self._observed.duration_s

    def check(self, tolerance_s: float = 20.0) -> None:
        """For a health endpoint: raises `LeaderElectionLost` when the lease has been over for longer than that and
        this process has not noticed (it hangs, say)."""
        if self._observed.holder != self.config.identity or self._lost:
            return
        if self._now() - self._observed_at > self.config.lease_duration_s + tolerance_s:
            raise LeaderElectionLost(f"failed election to renew leadership on lease {self.config.name}")

    async def run(self, lead: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Become the leader, then run `lead` for as long as the lease can be held.

        Ends when `lead` does (raising what it raises) or by cancellation, which cancels `lead`, waits for its end, and
        then gives the lease back. Raises `LeaderElectionLost`, after `lead` was cancelled and has ended.
        """
        await self._acquire()
        self._leading.set(1)
        self._leads = True
        renewing = asyncio.create_task(self._renew_until_lost(), name=f"{self.config.name}: renewal")
        leading = asyncio.create_task(lead(), name=f"{self.config.name}: leading")
        try:
            await asyncio.wait({renewing, leading}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self._end(leading, renewing)
        if not leading.cancelled():
            leading.result()
        if self._lost:
            raise LeaderElectionLost(self._lost)

    async def _end(self, leading: asyncio.Task[None], renewing: asyncio.Task[None]) -> None:
        """End the work, then the renewal, then give the lease back."""
        leading.cancel()
        await asyncio.wait({leading, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if not leading.done():
            # Lost while the work takes its time to end: it must not any longer.
            leading.cancel()
            await asyncio.wait({leading})
        self._leads = False
        renewing.cancel()
        await asyncio.wait({renewing})
        self._leading.set(0)
        if self.config.release_on_exit and not self._lost:
            await self._release()

    async def _acquire(self) -> None:
        _log.info("waiting to lead: %s", self.config.name)
        while not await self._try_to_lead():
            self._report()
            await asyncio.sleep(self._pause_s())
        self._report()
        _log.info("%s leads: %s", self.config.identity, self.config.name)

    def _pause_s(self) -> float:
        """Until the next try: a while that is never the same, but not beyond the end of the lease that was seen."""
        pause_s = self.config.retry_period_s * (1.0 + JITTER_FACTOR * random.random())
        left_s = self._observed_at + self._observed.duration_s - self._now()
        return left_s + _AFTER_THE_END_S if 0 < left_s < pause_s else pause_s

    async def _try_to_lead(self) -> bool:
        try:
            async with asyncio.timeout(self.config.renew_deadline_s):
                return await self._try_acquire_or_renew()
        except TimeoutError:
            return False

    async def _renew_until_lost(self) -> None:
        """Returns when the lease is lost."""
        while not self._lost:
            await asyncio.sleep(self.config.retry_period_s)
            self._lost = await self._renew()
            self._report()
        _log.error("%s no longer leads: %s", self.config.identity, self._lost)

    async def _renew(self) -> str:
        """Renew, however many tries it takes; else why it cannot be."""
        try:
            async with asyncio.timeout(self.config.renew_deadline_s):
                while not await self._try_acquire_or_renew():
                    if self.leader not in ("", self.config.identity):
                        return f"{self.leader} has taken the lease {self.config.name}"
                    await asyncio.sleep(self.config.retry_period_s)
        except TimeoutError:
            return f"the lease {self.config.name} could not be renewed in {self.config.renew_deadline_s:g} s"
        return ""

    async def _try_acquire_or_renew(self) -> bool:
        """One try; False when another holds the lease, or the server does not do as asked."""
        try:
            if self.is_leader() and await self._renew_unseen():
                return True
            asked_at = self._now()
            record = await self._lease.get()
            if record is None:
                mine = self._mine(acquire_time=self._lease.time())
                await self._lease.create(mine)
                self._observe(mine, asked_at)
                return True
            if record != self._observed:
                self._observe(record, self._now())
            return await self._take(record)
        except ClientError as error:
            _log.warning("the lease %s could not be read or written: %s", self.config.name, error)
            return False

    async def _take(self, record: LeaseRecord) -> bool:
        """Write ourselves into the lease that was just read, if that is allowed."""
        is_mine = record.holder == self.config.identity
        if record.holder and not is_mine and self._is_valid():
            return False
        if is_mine:
            self._slow_path.inc()
            mine = self._mine(record.acquire_time, record.transitions)
        else:
            mine = self._mine(self._lease.time(), record.transitions + 1)
        asked_at = self._now()
        await self._lease.update(mine)
        self._observe(mine, asked_at)
        return True

    async def _renew_unseen(self) -> bool:
        """Renew without reading first, as nobody else should have written."""
        mine = self._mine(self._observed.acquire_time, self._observed.transitions)
        asked_at = self._now()
        try:
            await self._lease.update(mine)
        except ClientError as error:
            _log.info("the lease %s must be read anew: %s", self.config.name, error)
            return False
        self._observe(mine, asked_at)
        return True

    async def _release(self) -> None:
        """Leave an empty holder and one second, so that another takes over at its next try."""
        try:
            async with asyncio.timeout(self.config.renew_deadline_s):
                while not await self._try_release():
                    pass
        except (ClientError, TimeoutError) as error:
            _log.warning("the lease %s could not be given back: %s", self.config.name, error)

    async def _try_release(self) -> bool:
        """False when the lease was written meanwhile (by our own last renewal, say)."""
        record = await self._lease.get()
        if record is None or record.holder != self.config.identity:
            return True
        now = self._lease.time()
        try:
            await self._lease.update(replace(record, holder="", duration_s=1, acquire_time=now, renew_time=now))
        except Conflict:
            return False
        self._observed = LeaseRecord("", 1)
        _log.info("%s has given the lease %s back", self.config.identity, self.config.name)
        return True

    def _mine(self, acquire_time: str, transitions: int = 0) -> LeaseRecord:
        duration_s = int(self.config.lease_duration_s)
        return LeaseRecord(self.config.identity, duration_s, acquire_time, self._lease.time(), transitions)

    def _observe(self, record: LeaseRecord, at: float) -> None:
        self._observed, self._observed_at = record, at
        self._observed_real = seconds() - (self._now() - at)

    def _is_valid(self) -> bool:
        return self._now() < self._observed_at + self._observed.duration_s

    def _report(self) -> None:
        if self._observed.holder == self._reported:
            return
        self._reported = self._observed.holder
        if self._on_new_leader is not None:
            self._on_new_leader(self._reported)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
