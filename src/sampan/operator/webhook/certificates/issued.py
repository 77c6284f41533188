"""`IssuedCertificates`: an authority and a serving certificate, shared through a store and rotated in time.

Concurrency: `run` owns two tasks: the store's watch, and a loop that checks after changes of the store and at renewals.
Checks are serialized. Replicas race for a renewal; the losers use the result of the winner.
"""

import asyncio
import datetime
import logging
from collections.abc import Sequence
from typing import Final

from sampan.client.errors import ClientError
from sampan.client.retries.backoff import Backoff
from sampan.core.time import Clock
from sampan.operator.rights import Right
from sampan.operator.webhook.certificates.certificate_set import CertificateSet, read_set
from sampan.operator.webhook.certificates.rotation import CertificateTerms, next_renewal, renewed
from sampan.operator.webhook.certificates.source import CertificateSource, Material
from sampan.operator.webhook.certificates.store import CertificateStore, Stored

_log = logging.getLogger("sampan.webhook")

_RETRY: Final = Backoff(0.5, factor=2.0, jitter=0.2, cap_s=60.0)
_LOOK_INTERVAL_S: Final = 3600.0
"""Interval of checks, because the wall clock may jump."""
_RACES_MAX: Final = 10


class IssuedCertificates(CertificateSource):
    """Certificates for `hosts` (names and addresses), issued if there are none."""

    def __init__(
        self, store: CertificateStore, hosts: Sequence[str], clock: Clock, terms: CertificateTerms = CertificateTerms()
    ) -> None:
        super().__init__()
        self._store = store
        self._hosts = tuple(hosts)
        self._clock = clock
        self._terms = terms
        self._turn = asyncio.Lock()
        self._look = asyncio.Event()
        self._current: CertificateSet | None = None

    @property
    def store(self) -> CertificateStore:
        """Store of the certificates."""
        return self._store

    def rights(self) -> list[Right]:
        """Return the rights on the API server that the store needs."""
        found: list[Right] = getattr(self._store, "rights", list)()
        return found

    async def run(self) -> None:
        """Keep the certificates up to date until cancelled. Errors are logged and retried."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._store.watch(self._look.set))
            delays = _RETRY.delays()
            while True:
                # Before the check, not after: a change of the store during the check must cause another one.
                self._look.clear()
                try:
                    await self.refresh()
                except (ClientError, OSError, ValueError) as error:
                    _log.warning("cannot update certificates: %s", error)
                    await asyncio.sleep(next(delays))
                    continue
                delays = _RETRY.delays()
                try:
                    async with asyncio.timeout(self._pause_s()):
                        await self._look.wait()
                except TimeoutError:
                    pass

    async def refresh(self) -> None:
        """Read the store, and renew and save the certificates if necessary."""
        async with self._turn:
            for _ in range(_RACES_MAX):
                stored = await self._store.load()
                present = _readable(stored)
                desired = renewed(present, self._hosts, self._clock.now(), self._terms)
                # `save` fails if another replica has written since `load`. The next round then finds its result.
                if desired is present or await self._store.save(desired.files(), stored):
                    self._take(desired, is_new=desired is not present)
                    return
        raise OSError("other replicas keep changing the certificates")

    def _take(self, desired: CertificateSet, *, is_new: bool) -> None:
        self._current = desired
        pair = desired.serving
        ends = pair.certificate.not_valid_after_utc
        if is_new:
            _log.info("issued certificates; the serving certificate expires at %s", ends)
        self._hold(Material(pair.certificate_pem(), pair.key_pem(), desired.bundle, ends))

    def _pause_s(self) -> float:
        assert self._current is not None, "refresh has succeeded"
        due: datetime.timedelta = next_renewal(self._current, self._terms) - self._clock.now()
        # At least a second: a certificate that is due and cannot be renewed must not cause a busy loop.
        return min(max(due.total_seconds(), 1.0), _LOOK_INTERVAL_S)


def _readable(stored: Stored | None) -> CertificateSet | None:
    if stored is None or not stored.files:
        return None
    try:
        return read_set(stored.files)
    except ValueError as error:
        _log.warning("replacing the stored certificates, which are unusable: %s", error)
        return None
