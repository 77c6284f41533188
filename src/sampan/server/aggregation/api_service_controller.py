"""`ApiServiceController`: looks after one APIService that another server answers for.

Concurrency: `run` owns two tasks. One looks whether the backend is available: when something that this depends on has
changed (`look`), every `resync_s` seconds, and after a failure with growing pauses. The other asks for its documents,
at once when it has become available. Neither waits for the other, and nothing waits for them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sampan.core.errors import StatusError
from sampan.core.work import Work
from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.availability import Verdict
from sampan.server.aggregation.backend_client import BackendError
from sampan.server.aggregation.settings import Intervals
from sampan.storage.signal import Signal
from sampan.storage.store import STORE_ERRORS

_log = logging.getLogger("sampan.aggregation")


class ApiServiceController:
    """`check` looks and writes down what it finds; `refresh` fetches documents and raises `BackendError`."""

    def __init__(
        self,
        api_service: ApiService,
        check: Callable[[ApiService], Awaitable[Verdict]],
        refresh: Callable[[ApiService], Awaitable[None]],
        intervals: Intervals,
        work: Work,
    ) -> None:
        """`work` takes how the looking gets on."""
        self.api_service = api_service
        self._work = work
        self._check = check
        self._refresh = refresh
        self._intervals = intervals
        self._look, self._fetch = Signal(), Signal()
        self._looks = 0

    def look(self) -> None:
        """Something has changed: look now."""
        self._looks += 1
        self._work.add(self.api_service.name)
        self._look.notify()

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_available(), name=f"availability of {self.api_service.name}")
            group.create_task(self._keep_documents(), name=f"documents of {self.api_service.name}")

    async def _keep_available(self) -> None:
        intervals, failures, before = self._intervals, 0, False
        while True:
            seen = self._looks
            try:
                with self._work.at(self.api_service.name):
                    verdict = await self._check(self.api_service)
            except (StatusError, *STORE_ERRORS) as error:
                _log.warning("APIService %s: %s", self.api_service.name, error)
                verdict = Verdict(before, "", str(error), retry=True)
            if verdict.available and not before:
                self._fetch.notify()
            before = verdict.available
            failures = failures + 1 if verdict.retry else 0
            self._work.retries += verdict.retry
            pause_s = intervals.retry_s * 2 ** min(failures - 1, 20) if failures else intervals.resync_s
            if self._looks == seen:
                await self._look.wait(min(intervals.resync_s, pause_s))

    async def _keep_documents(self) -> None:
        intervals, failures = self._intervals, 0
        while True:
            try:
                await self._refresh(self.api_service)
                failures = 0
            except BackendError as error:
                failures += 1
                _log.debug("APIService %s: %s", self.api_service.name, error)
            except Exception:  # whatever a backend sends, the server goes on
                failures += 1
                _log.exception("the documents of APIService %s cannot be read", self.api_service.name)
            pause_s = intervals.documents_retry_s * 2 ** min(failures - 1, 20) if failures else intervals.documents_s
            await self._fetch.wait(min(intervals.documents_s, pause_s))
