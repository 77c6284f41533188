"""Sources of the CronJob controller's requests. CronJobs whose schedule has changed are delayed.

A changed schedule applies from its next time on: a Job is never started for an earlier time.
Concurrency: see `sampan.operator.source`.
Source: kube-controller-manager pkg/controller/cronjob/cronjob_controllerv2.go `updateCronJob` (1.36).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from sampan.controllers.job.conditions import finished_condition
from sampan.informer.ref import Deletion, Ref
from sampan.informer.shared_informer import SharedInformer
from sampan.kinds import batch_v1
from sampan.operator.predicates import Predicate
from sampan.operator.queue import WorkQueue
from sampan.operator.request import Request


class CronJobSource:
    """Queues all CronJobs. `wait_s` returns the delay for one with a changed schedule; None: do not queue it."""

    def __init__(
        self, informer: SharedInformer[batch_v1.CronJob], wait_s: Callable[[batch_v1.CronJob], float | None]
    ) -> None:
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


class JobChanged(Predicate["batch_v1.Job"]):
    """Drops updates of Jobs that a CronJob does not depend on, such as the counts of Pods in the status."""

    def update(self, old: Ref[batch_v1.Job], new: Ref[batch_v1.Job]) -> bool:
        """Return True if the Job has finished, or if its metadata has changed."""
        if old.uid != new.uid or old.labels != new.labels:
            return True
        before, after = old.metadata, new.metadata
        return (
            before.annotations != after.annotations
            or before.owner_references != after.owner_references
            or before.deletion_timestamp != after.deletion_timestamp
            or _end(old) != _end(new)
        )


def _end(job: Ref[batch_v1.Job]) -> batch_v1.JobCondition | None:
    """Return the condition with which a Job finished, and the time in it. It is written once."""
    return finished_condition(job.decode()) if b'"conditions"' in job.raw else None


class _Handler:
    def __init__(self, queue: WorkQueue[Request], wait_s: Callable[[batch_v1.CronJob], float | None]) -> None:
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
