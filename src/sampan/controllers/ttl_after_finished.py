"""The TTL-after-finished controller: deletes finished Jobs and their Pods when their TTL is over.

Concurrency: the manager runs the controller; each Job is reconciled by one worker at a time.
Source: kube-controller-manager pkg/controller/ttlafterfinished/ttlafterfinished_controller.go (1.36).
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from sampan.client import Conflict, DeleteOptions, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import JOBS
from sampan.controllers.job.conditions import finished_condition
from sampan.core.time import add_seconds, parse_time
from sampan.informer.ref import Ref
from sampan.kinds import batch_v1
from sampan.operator.builder import Builder
from sampan.operator.predicates import matching
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "ttl-after-finished-controller"
WORKERS: Final = 5


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    TTLController(context).start()


class TTLController:
    """Deletes finished Jobs whose TTL is over."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._jobs = context.manager.client.resource(JOBS, namespace="")
        self._direct = context.manager.client.direct.resource(JOBS, namespace="")

    def start(self) -> None:
        """Register the controller with the manager."""
        builder = Builder(self._context.manager).named(NAME).for_(JOBS, predicates=(matching(_has_ttl),))
        builder.with_options(max_concurrent_reconciles=WORKERS).complete(self)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Job. Raises `ApiError`, `TransportError`."""
        job = await self._jobs.find(request)
        left = None if job is None else time_left(job, self._context.clock.now())
        if left is None:
            return None
        if left > dt.timedelta():
            return Result(left.total_seconds())
        try:
            # The TTL may have been raised since. A deletion is final, so read the current object from the server.
            fresh = await self._direct.in_namespace(request.namespace).get(request.name)
            left = time_left(fresh, self._context.clock.now())
            if left is None or left > dt.timedelta():
                return Result(None if left is None else left.total_seconds())
            options = DeleteOptions(propagation_policy="Foreground", uid=meta(fresh).uid)
            await self._jobs.in_namespace(request.namespace).delete(request.name, options)
        except (NotFound, Conflict):
            # It is gone, or another Job has its name, whose own events queue it.
            return None
        return None


def _has_ttl(job: Ref[Any]) -> bool:
    """Return False for a Job without a TTL, which needs no reconcile. Most Jobs have none."""
    return b'"ttlSecondsAfterFinished"' in job.raw


def time_left(job: batch_v1.Job, now: dt.datetime) -> dt.timedelta | None:
    """Return the remaining TTL of a Job; zero or negative if it is over, None for a Job that must not be deleted.

    Raises `ValueError` for a finished Job without the time when it finished.
    """
    ttl_s = job["spec"].get("ttlSecondsAfterFinished")
    finished = finished_condition(job)
    if ttl_s is None or finished is None or meta(job).deletion_timestamp is not None:
        return None
    if not finished.get("lastTransitionTime"):
        metadata = meta(job)
        raise ValueError(f"unable to find the time when the Job {metadata.namespace}/{metadata.name} finished")
    return add_seconds(parse_time(finished["lastTransitionTime"]), ttl_s) - now
