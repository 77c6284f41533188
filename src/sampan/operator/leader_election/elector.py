"""`LeaderElector`: runs work while it holds a lease.

Concurrency: while it leads, `run` owns two tasks, the work and the renewal. The work always ends before the lease is
released, and the lease is renewed until the work has ended.

Correctness depends only on durations of the local clock. A candidate takes over when the lease has not changed for its
whole duration. The leader stops its work when it could not renew for the shorter `renew_deadline_s`, counted from the
start of the last successful request. A process that was paused for longer detects that only when it runs again. Until
then `is_over` is true, and the manager's client refuses writes (`guard.py`).

Source: client-go tools/leaderelection/leaderelection.go (1.36). Differences: a leader that reads another holder stops
at once, and a candidate tries exactly at the end of the observed lease.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any, Final

from prometheus_client import CollectorRegistry

from sampan.client.errors import ClientError, Conflict
from sampan.core.event_loop.background import background
from sampan.core.event_loop.task_scope import TaskScope
from sampan.core.seconds import seconds
from sampan.operator.leader_election.config import JITTER_FACTOR, LeaderElectionConfig
from sampan.operator.leader_election.lease_lock import LeaseRecord, ResourceLock
from sampan.operator.leader_election.metrics import LeaderElectionMetrics
from sampan.operator.rights import Right

_log = logging.getLogger("sampan.leader_election")

_AFTER_THE_END_S: Final = 0.001
"""Delay after the end of a lease, because a timer may fire a tick early."""


class LeaderElectionLost(RuntimeError):
    """The lease could not be renewed, or another candidate has it. The work was stopped, and the process should end."""


class LeaderElector:
    """One candidate for one lease. Runs once."""

    def __init__(
        self,
        config: LeaderElectionConfig,
        lease: ResourceLock,
        *,
        on_new_leader: Callable[[str], None] | None = None,
        metrics: LeaderElectionMetrics | None = None,
    ) -> None:
        """`on_new_leader` is called with each new leader, including this candidate. It must return quickly."""
        self.config = config
        self._lease = lease
        self._on_new_leader = on_new_leader
        metrics = metrics or LeaderElectionMetrics(CollectorRegistry())
        self._leading = metrics.leading.labels(config.name)
        self._slow_path = metrics.slow_path.labels(config.name)
        self._observed = LeaseRecord("", 0)
        self._observed_at = self._observed_real = float("-inf")
        self._leads = False
        self._sent: LeaseRecord | None = None
        """Last record that this candidate has sent: the server may have stored it though no response came."""
        self._reported = ""
        self._lost = ""

    def rights(self) -> list[Right]:
        """Return the rights on the lease."""
        found: list[Right] = getattr(self._lease, "rights", list)()
        return found

    @property
    def leader(self) -> str:
        """Identity of the last observed holder; empty if there was none."""
        return self._observed.holder

    def is_leader(self) -> bool:
        """Return True if this candidate holds the lease and the lease is valid according to the local clock."""
        return self._observed.holder == self.config.identity and self._is_valid()

    def is_over(self) -> bool:
        """Return True if the leader's work is running but its lease has expired.

        Uses a separate clock: the event loop's clock may be late during a callback, and stops while the machine sleeps.
        """
        if not self._leads:
            return False
        # Both clocks must agree that the lease is valid. The stricter one wins.
        return not self.is_leader() or seconds() >= self._observed_real + self._observed.duration_s

    def check(self, tolerance_s: float = 20.0) -> None:
        """Raise `LeaderElectionLost` if the lease expired more than `tolerance_s` ago. A health endpoint calls it.

        In that case this process has not detected the expiry, for example because it hangs.
        """
        if self._observed.holder != self.config.identity or self._lost:
            return
        if self._now() - self._observed_at > self.config.lease_duration_s + tolerance_s:
            raise LeaderElectionLost(f"failed election to renew leadership on lease {self.config.name}")

    async def run(self, lead: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Become the leader, then run `lead` for as long as the lease is held.

        Ends with `lead` (and raises its error), or by cancellation, which cancels `lead`, waits for its end, and then
        releases the lease. Raises `LeaderElectionLost` after `lead` was cancelled and has ended.
        """
        await self._acquire()
        self._leading.set(1)
        self._leads = True
        async with TaskScope() as tasks:
            with background():
                renewing = tasks.begin(self._renew_until_lost(), f"{self.config.name}: renewal")
            leading = tasks.begin(lead(), f"{self.config.name}: leading")
            try:
                await asyncio.wait({renewing, leading}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await self._end(leading, renewing)
        if not leading.cancelled():
            leading.result()
        if self._lost:
            raise LeaderElectionLost(self._lost)

    async def _end(self, leading: asyncio.Task[None], renewing: asyncio.Task[None]) -> None:
        """Stop the work, then the renewal, then release the lease."""
        # The renewal continues: the work may still write while it ends, and no other candidate may start yet.
        leading.cancel()
        await asyncio.wait({leading, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if not leading.done():
            # The lease was lost while the work was ending: cancel it.
            leading.cancel()
            await asyncio.wait({leading})
        self._leads = False
        renewing.cancel()
        await asyncio.wait({renewing})
        self._leading.set(0)
        # A lost lease belongs to another candidate, or may do so soon.
        if self.config.release_on_exit and not self._lost:
            await self._release()

    async def _acquire(self) -> None:
        _log.info("waiting for lease %s", self.config.name)
        while not await self._try_to_lead():
            self._report()
            with background():
                await asyncio.sleep(self._pause_s())
        self._report()
        _log.info("lease %s acquired by %s", self.config.name, self.config.identity)

    def _pause_s(self) -> float:
        """Return the delay until the next attempt: random, but not beyond the end of the observed lease."""
        pause_s = self.config.retry_period_s * (1.0 + JITTER_FACTOR * random.random())
        left_s = self._observed_at + self._observed.duration_s - self._now()
        # Without this, a failover would take up to one more retry period after the end of the lease.
        return left_s + _AFTER_THE_END_S if 0 < left_s < pause_s else pause_s

    async def _try_to_lead(self) -> bool:
        try:
            # One hanging request must not block the candidate for longer than an attempt may take.
            async with asyncio.timeout(self.config.renew_deadline_s):
                return await self._try_acquire_or_renew()
        except TimeoutError:
            return False

    async def _renew_until_lost(self) -> None:
        """Renew until the lease is lost."""
        while not self._lost:
            await asyncio.sleep(self.config.retry_period_s)
            self._lost = await self._renew()
            self._report()
        _log.error("leadership lost by %s: %s", self.config.identity, self._lost)

    async def _renew(self) -> str:
        """Renew, with retries. Return the reason if the lease is lost."""
        try:
            async with asyncio.timeout(self.config.renew_deadline_s):
                while not await self._try_acquire_or_renew():
                    # No retry: another candidate may already work, so this one must stop at once.
                    if self.leader not in ("", self.config.identity):
                        return f"{self.leader} has taken the lease {self.config.name}"
                    await asyncio.sleep(self.config.retry_period_s)
        except TimeoutError:
            return f"the lease {self.config.name} could not be renewed in {self.config.renew_deadline_s:g} s"
        return ""

    async def _try_acquire_or_renew(self) -> bool:
        """Try once. Return False if another candidate holds the lease, or the request fails."""
        try:
            if self.is_leader() and await self._renew_unseen():
                return True
            # Taken before the request: the server may apply the write at any time after this moment, so the lease
            # never seems valid for longer here than it does to other candidates.
            requested_at = self._now()
            record = await self._lease.get()
            if record is None:
                mine = self._mine(acquire_time=self._lease.time())
                await self._lease.create(mine)
                self._observe(mine, requested_at)
                return True
            # Only a change restarts the wait. Times in the lease are of another clock and are not compared.
            if record != self._observed:
                self._observe(record, self._now())
            return await self._take(record)
        except ClientError as error:
            _log.warning("cannot read or write lease %s: %s", self.config.name, error)
            return False

    async def _take(self, record: LeaseRecord) -> bool:
        """Write this candidate into the lease that was just read, if that is allowed."""
        is_mine = record.holder == self.config.identity
        # An empty holder means that the lease was released, so there is no need to wait for its end.
        if record.holder and not is_mine and self._is_valid():
            return False
        # The holder with this identity may be this process before a restart: the transitions do not increase.
        if is_mine:
            self._slow_path.inc()
            if self._leads and record != self._sent:
                _log.warning(
                    "lease %s was renewed by another process with the identity %s: both lead; "
                    "give each process its own identity, or none for a random one",
                    *(self.config.name, self.config.identity),
                )
            mine = self._mine(record.acquire_time, record.transitions)
        else:
            mine = self._mine(self._lease.time(), record.transitions + 1)
        requested_at = self._now()
        self._sent = mine
        await self._lease.update(mine)
        self._observe(mine, requested_at)
        return True

    async def _renew_unseen(self) -> bool:
        """Renew without reading first, because no other candidate should have written."""
        mine = self._mine(self._observed.acquire_time, self._observed.transitions)
        requested_at = self._now()
        self._sent = mine
        try:
            await self._lease.update(mine)
        except ClientError as error:
            _log.info("reading lease %s again: %s", self.config.name, error)
            return False
        self._observe(mine, requested_at)
        return True

    async def _release(self) -> None:
        """Write an empty holder and a duration of one second, so that another candidate takes over soon."""
        try:
            async with asyncio.timeout(self.config.renew_deadline_s):
                while not await self._try_release():
                    pass
        except (ClientError, TimeoutError) as error:
            _log.warning("cannot release lease %s: %s", self.config.name, error)

    async def _try_release(self) -> bool:
        """Release the lease.

        Return False if the lease was written after it was read, for example by this candidate's last renewal.
        """
        record = await self._lease.get()
        if record is None or record.holder != self.config.identity:
            return True
        now = self._lease.time()
        try:
            await self._lease.update(replace(record, holder="", duration_s=1, acquire_time=now, renew_time=now))
        except Conflict:
            return False
        # So that `is_leader` is false at once, not only when the local lease would have expired.
        self._observed = LeaseRecord("", 1)
        _log.info("lease %s released by %s", self.config.name, self.config.identity)
        return True

    def _mine(self, acquire_time: str, transitions: int = 0) -> LeaseRecord:
        duration_s = int(self.config.lease_duration_s)
        return LeaseRecord(self.config.identity, duration_s, acquire_time, self._lease.time(), transitions)

    def _observe(self, record: LeaseRecord, at: float) -> None:
        self._observed, self._observed_at = record, at
        # The same moment on the other clock; the request may have taken some time since.
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
