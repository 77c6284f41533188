"""Source of the CronJob controller's requests. It delays the requests of CronJobs whose schedule has changed.

A changed schedule applies from its next time on: a Job is never started for an earlier time.
Concurrency: see `sampan.operator.source`.
Source: kube-controller-manager pkg/controller/cronjob/cronjob_controllerv2.go `updateCronJob` (1.36).
"""

import asyncio
from collections.abc import Callable
from typing import Any

from sampan.informer.ref import Deletion, Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.queue import WorkQueue
from sampan.operator.request import Request
from sampan.resource import Object


class CronJobSource:
    """Queues all CronJobs. `wait_s` returns the delay for one with a changed schedule; None: do not queue it."""

    def __init__(self, informer: SharedInformer[Object], wait_s: Callable[[Object], float | None]) -> None:
        self._informer = informer
        self._wait_s = wait_s

    def __str__(self) -> str:
        return "cron job source"

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        """Queue requests until cancelled; set `synced` once the informer has delivered the initial list."""
        registration = self._informer.add_handler(_Handler(queue, self._wait_s))
        try:
            await registration.synced()
            synced.set()
            await asyncio.get_running_loop().create_future()
        finally:
            registration.remove()


class _Handler:
    def __init__(self, queue: WorkQueue[Request], wait_s: Callable[[Object], float | None]) -> None:
        self._queue = queue
        self._wait_s = wait_s

    def on_add(self, obj: Ref[Any], is_in_initial_list: bool) -> None:
        self._queue.add(Request.of_key(obj.key))

    def on_update(self, old: Ref[Any], new: Ref[Any]) -> None:
        request = Request.of_key(new.key)
        if old.uid == new.uid and old.generation != new.generation and _schedule(old) != _schedule(new):
            wait_s = self._wait_s(new.decode())
            if wait_s is not None:
                self._queue.add_after(request, wait_s)
        else:
            self._queue.add(request)

    def on_delete(self, obj: Deletion[Any]) -> None:
        """Do nothing: the garbage collector deletes the Jobs."""


def _schedule(ref: Ref[Any]) -> tuple[object, object]:
    spec = ref.decode()["spec"]
    return spec.get("schedule"), spec.get("timeZone")
