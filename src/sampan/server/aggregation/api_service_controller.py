"""`ApiServiceController`: checks the availability of one backend, and fetches its documents.

Concurrency: `run` owns two tasks. The first checks the availability: after `check_now`, every `resync_s` seconds, and
after a failure with exponential backoff. The second fetches documents, at once when the backend becomes available. They
do not wait for each other, and no other task waits for them.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sampan.core.errors import StatusError
from sampan.core.telemetry.work import WorkMetrics
from sampan.server.aggregation.api_service import ApiService
from sampan.server.aggregation.availability import AvailabilityResult
from sampan.server.aggregation.backend_client import BackendError
from sampan.server.aggregation.settings import Intervals
from sampan.storage.signal import Signal
from sampan.storage.store import STORE_ERRORS

_log = logging.getLogger("sampan.aggregation")


class ApiServiceController:
    """Controller of one APIService. `check` writes the availability; `refresh` fetches documents or raises
    `BackendError`.
    """

    def __init__(
        self,
        api_service: ApiService,
        check: Callable[[ApiService], Awaitable[AvailabilityResult]],
        refresh: Callable[[ApiService], Awaitable[None]],
        intervals: Intervals,
        work: WorkMetrics,
    ) -> None:
        """`work` measures the checks."""
        self.api_service = api_service
        self._work = work
        self._check = check
        self._refresh = refresh
        self._intervals = intervals
        self._check_due, self._fetch_due = Signal(), Signal()
        self._requests = 0

    def check_now(self) -> None:
        """Check the availability now, because an object that it depends on has changed."""
        self._requests += 1
        self._work.add(self.api_service.name)
        self._check_due.notify()

    async def run(self) -> None:
        """Run until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_available(), name=f"availability of {self.api_service.name}")
            group.create_task(self._keep_documents(), name=f"documents of {self.api_service.name}")

    async def _keep_available(self) -> None:
        intervals, failures, before = self._intervals, 0, False
        while True:
            handled = self._requests
            try:
                with self._work.at(self.api_service.name):
                    result = await self._check(self.api_service)
            except (StatusError, *STORE_ERRORS) as error:
                _log.warning("cannot check APIService %s: %s; trying again", self.api_service.name, error)
                result = AvailabilityResult(before, "", str(error), retry=True)
            if result.available and not before:
                self._fetch_due.notify()
            before = result.available
            failures = failures + 1 if result.retry else 0
            self._work.retries += result.retry
            pause_s = intervals.retry_s * 2 ** min(failures - 1, 20) if failures else intervals.resync_s
            if self._requests == handled:
                await self._check_due.wait(min(intervals.resync_s, pause_s))

    async def _keep_documents(self) -> None:
        intervals, failures = self._intervals, 0
        while True:
            try:
                await self._refresh(self.api_service)
                failures = 0
            except BackendError as error:
                failures += 1
                _log.debug("cannot fetch documents of APIService %s: %s; trying again", self.api_service.name, error)
            except Exception:  # invalid data from a backend must not stop the server
                failures += 1
                _log.exception("cannot parse the documents of APIService %s; trying again", self.api_service.name)
            pause_s = intervals.documents_retry_s * 2 ** min(failures - 1, 20) if failures else intervals.documents_s
            await self._fetch_due.wait(min(intervals.documents_s, pause_s))
