"""`ReportLease`: announces the reports of a process without leader election, in a Lease that it renews.

Flow: the process takes the first of `SLOTS` Leases that is free: it does not exist, was released, or its holder has not
renewed it for its duration. At its start it also takes that of its predecessor: the holder of the same host and process
id, as in a container that has restarted. It renews the Lease, and releases it at its end.

Guarantees: an operator has at most `SLOTS` such Leases in a namespace, however often it restarts, and also if its
processes are killed. Two processes never share one. The Lease elects nothing: each process reconciles in any case.

Errors: none ends the process. Without the rights, the process is not announced; it logs that once and retries rarely.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from sampan.client.client import Client
from sampan.client.errors import AlreadyExists, ClientError, Conflict, Forbidden, NotFound
from sampan.core.time import Clock, add_seconds, parse_micro_time
from sampan.operator.leader_election import LeaseLock, LeaseNote, LeaseRecord
from sampan.operator.reports.place import ANNOTATION, Place

_log = logging.getLogger("sampan.reports")

SLOTS: Final = 8
DURATION_S: Final = 40
"""Duration of the Lease. It has no effect on the controllers, so it is renewed as rarely as those of nodes."""
RENEW_S: Final = 10.0
REFUSED_S: Final = 300.0
"""Delay after a refusal."""
_RELEASE_S: Final = 2.0
_REQUEST_S: Final = 5.0


class ReportLease:
    """Runnable that holds a Lease with the place of a process. `port` returns its port."""

    needs_leader_election = False

    def __init__(
        self, client: Client, name: str, *, namespace: str, place: Place, port: Callable[[], int], clock: Clock
    ) -> None:
        """`name`: name of the operator. `client` must not cache."""
        self._client = client.with_defaults(request_timeout_s=_REQUEST_S)
        self._name, self._namespace = name, namespace
        self._place, self._port = place, port
        self._clock = clock
        self._lock: LeaseLock | None = None
        self._record = LeaseRecord("", DURATION_S)
        self._refused = False
        self._began = False
        """True after the first attempt to take a Lease."""

    def __str__(self) -> str:
        return "lease of the reports"

    async def run(self) -> None:
        """Announce until cancelled, then release the Lease."""
        try:
            while True:
                delay_s = await self.announce()
                await asyncio.sleep(delay_s)
        finally:
            await self._release()

    async def announce(self) -> float:
        """Renew the Lease, or take one. Return the delay until the next time."""
        try:
            if not (await self._renew() or await self._take()):
                self._refuse(f"{SLOTS} processes are announced already")
                return REFUSED_S
        except (Forbidden, NotFound) as error:
            self._refuse(str(error))
            return REFUSED_S
        except ClientError as error:
            _log.debug("cannot announce the reports of controllers; retrying: %s", error)
        return RENEW_S

    def _refuse(self, cause: str) -> None:
        _log.log(
            logging.DEBUG if self._refused else logging.INFO,
            "the dashboard does not list this operator; allow create, get and update of leases in namespace %s: %s",
            *(self._namespace, cause),
        )
        self._refused = True

    async def _renew(self) -> bool:
        """Renew the Lease. Return False if the process holds none, or another process has taken it."""
        if self._lock is None:
            return False
        try:
            await self._write(self._lock, transitions=self._record.transitions)
        except (Conflict, NotFound):
            self._lock = None
        return self._lock is not None

    async def _take(self) -> bool:
        """Take the first free Lease. Return False if none is free."""
        for slot in range(SLOTS):
            lock = LeaseLock(self._client, self._namespace, lease_name(self._name, slot), self._clock)
            lock.note = self._note
            record = await lock.get()
            try:
                if record is None:
                    self._record = self._held(lock, 0)
                    await lock.create(self._record)
                elif self._is_free(record):
                    await self._write(lock, transitions=record.transitions + 1)
                else:
                    continue
            except (AlreadyExists, Conflict):
                continue  # Another process was faster.
            self._lock, self._refused, self._began = lock, False, True
            return True
        self._began = True
        return False

    async def _write(self, lock: LeaseLock, *, transitions: int) -> None:
        self._record = self._held(lock, transitions)
        await lock.update(self._record)

    def _held(self, lock: LeaseLock, transitions: int) -> LeaseRecord:
        now, same = lock.time(), self._lock is lock
        return LeaseRecord(self._place.holder, DURATION_S, self._record.acquire_time if same else now, now, transitions)

    def _is_free(self, record: LeaseRecord) -> bool:
        """Return True if no process holds a Lease.

        With a wrong clock, a process may take the Lease of another one, which then takes the next.
        """
        if not record.holder or (not self._began and _process_of(record.holder) == _process_of(self._place.holder)):
            return True
        try:
            renewed = parse_micro_time(record.renew_time)
        except ValueError:
            return True
        return add_seconds(renewed, record.duration_s) < self._clock.now()

    def _note(self) -> LeaseNote:
        return LeaseNote({ANNOTATION: "process"}, self._place.annotations(self._port()))

    async def _release(self) -> None:
        """Write an empty holder, so that the page does not list the process any more."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            async with asyncio.timeout(_RELEASE_S):
                await lock.update(LeaseRecord("", 1, transitions=self._record.transitions))
        except (ClientError, TimeoutError) as error:
            _log.debug("cannot release the lease of the reports: %s", error)


def _process_of(holder: str) -> str:
    """Return the host and the process id of a holder."""
    return holder.rpartition("_")[0]


def lease_name(name: str, slot: int) -> str:
    """Return the object name that belongs to a number, for the operator called `name`."""
    return f"{name}-reports-{slot}"
