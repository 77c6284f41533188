"""Reconcile one Job.

Concurrency: the manager runs the controller; each Job is reconciled by one worker at a time. Reads include the
controller's own earlier writes. The status is the only record of the counted Pods. So it is written only to the version
of the Job that was read (resourceVersion). After a conflict the Job is reconciled again.
Source: kube-controller-manager pkg/controller/job/job_controller.go (1.36).
"""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.client import ClientError, Conflict, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import JOBS
from sampan.component_base.views import POD_VIEW, Pod
from sampan.controllers.job.backoff import BackoffRecord
from sampan.controllers.job.conditions import (
    COMPLETE,
    FAILURE_TARGET,
    SUCCESS_CRITERIA_MET,
    SUSPENDED,
    finished_condition,
    job_condition,
    put_condition,
)
from sampan.controllers.job.counting import count_named, name_terminated
from sampan.controllers.job.finalizer import FinalizerRemoval
from sampan.controllers.job.outcome import completion, deadline_wait, failed, outcome
from sampan.controllers.job.plan import plan
from sampan.controllers.job.spec import JobSpec
from sampan.controllers.job.state import TRACKING_FINALIZER, JobState, is_tracked, observe
from sampan.controllers.job.templates import new_pod
from sampan.controllers.status import status_of, write_status
from sampan.controllers.workloads.ownership import Owned, OwnerGone, owners_of_pods
from sampan.controllers.workloads.pod_control import PodControl
from sampan.controllers.workloads.slow_start import slow_start
from sampan.core.label_selectors import Selector, selector_from_label_selector
from sampan.core.time import format_time
from sampan.informer.key import join_key
from sampan.kinds import batch_v1
from sampan.operator.controller import ControllerOptions
from sampan.operator.handlers import for_object
from sampan.operator.predicates import GenerationChanged
from sampan.operator.queue import ItemExponentialFailureRateLimiter
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource
from sampan.patch.copying import copy_json
from sampan.resource import meta

NAME: Final = "job-controller"
WORKERS: Final = 5
BATCH_S: Final = 0.1
"""Delay that combines several changes of Pods and of the status into one reconciliation."""
_RETRY_FIRST_S: Final = 0.1
_RETRY_LONGEST_S: Final = 60.0
_MODES: Final = ("NonIndexed", "Indexed")


@dataclass(slots=True)
class _Sync:
    """The changes of one reconciliation."""

    status: batch_v1.JobStatus
    active: int
    ready: int
    terminating: int
    end: batch_v1.JobCondition | None
    """Condition that ends the Job; None if it continues, or cannot end yet."""
    error: ClientError | None = None
    wait: dt.timedelta | None = None


class JobController:
    """Runs Jobs: creates Pods until enough have succeeded or too many have failed."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._clock = context.clock
        self._jobs = context.manager.client.resource(JOBS, namespace="")
        self._informer = context.informer(JOBS)
        self._owned: Owned[Pod] = Owned(context, POD_VIEW, JOBS, finalizer=TRACKING_FINALIZER)
        self._recorder = context.recorder(NAME)
        self._pods = PodControl(context, self._recorder)
        self._finalizers = FinalizerRemoval(context)
        self._failures: dict[str, tuple[str, BackoffRecord]] = {}
        """UID and failures of each unfinished Job, by key. They are lost with the process, as in Kubernetes."""

    def start(self) -> None:
        """Register the controller with the manager."""
        limiter = ItemExponentialFailureRateLimiter(_RETRY_FIRST_S, _RETRY_LONGEST_S)
        options = ControllerOptions(max_concurrent_reconciles=WORKERS, rate_limiter=limiter)
        controller = self._context.manager.new_controller(NAME, self, options)
        controller.watch(KindSource(self._informer, for_object, (GenerationChanged(),)))
        controller.watch(KindSource(self._informer, for_object, debounce_s=BATCH_S))
        owners = owners_of_pods(JOBS, self._informer, _selector)
        controller.watch(KindSource(self._context.informer(POD_VIEW), owners, debounce_s=BATCH_S))

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Job. Raises `ClientError`."""
        job = await self._jobs.find(request)
        spec = JobSpec.of(job) if job is not None else None
        if job is None or spec is None or spec.managed_elsewhere or finished_condition(job) is not None:
            # The Job is finished or gone. A later Job of the same name starts without a backoff.
            self._failures.pop(request.key, None)
            return None
        if spec.mode not in _MODES:
            self._recorder.warning(job, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
            return None
        uid, failures = self._failures.get(request.key, ("", BackoffRecord()))
        try:
            pods = await self._owned.claim(job, _selector(job))
            # A Job that was deleted and created again must not inherit the backoff of the first.
            failures = failures if uid == meta(job).uid else BackoffRecord()
            return await self._sync(observe(job, pods, self._clock.now(), failures))
        except OwnerGone:
            return None
        except Conflict:
            # Another client has changed the Job. The cache will have the new version soon.
            return Result(BATCH_S)

    async def _sync(self, state: JobState) -> Result:
        sync = _Sync(
            status=status_of(state.job),
            active=len(state.active),
            ready=sum(pod.is_ready for pod in state.active),
            terminating=state.terminating,
            end=outcome(state),
        )
        if not state.spec.suspend:
            sync.status.setdefault("startTime", format_time(state.now))
        if sync.end is not None:
            # The Pods keep their finalizers, because they must be counted before they are removed.
            await self._delete(state, sync, state.active, self._pods.delete)
            # An active Pod could still succeed or fail, so the Job ends only when all deletions were accepted.
            if sync.error is not None:
                sync.end = None
        else:
            await self._continue(state, sync)
        _write_counts(sync)
        full = await self._count(state, sync)
        if sync.error is not None:
            raise sync.error
        return Result(_requeue_after_s(state, sync, full))

    async def _continue(self, state: JobState, sync: _Sync) -> None:
        """Create or delete Pods of a Job that continues, unless the Job has become complete."""
        managed = meta(state.job).deletion_timestamp is None
        if managed:
            todo = plan(state)
            sync.wait = todo.wait
            await self._delete(state, sync, todo.delete, self._delete_uncounted)
            await self._create(state, sync, todo.create)
        sync.end = completion(state, sync.active)
        if managed and sync.end is None:
            self._set_suspension(state, sync)

    async def _create(self, state: JobState, sync: _Sync, indexes: Sequence[int | None]) -> None:
        async def create(position: int) -> None:
            if await self._pods.create(new_pod(state, indexes[position]), state.job) is not None:
                sync.active += 1

        try:
            await slow_start(len(indexes), create)
        except ClientError as error:
            sync.error = error

    async def _delete(
        self, state: JobState, sync: _Sync, pods: Sequence[Pod], delete: Callable[[Pod, batch_v1.Job], Awaitable[None]]
    ) -> None:
        async def end(pod: Pod) -> None:
            await delete(pod, state.job)
            sync.active -= 1
            sync.terminating += 1
            sync.ready -= pod.is_ready

        results = await asyncio.gather(*map(end, pods), return_exceptions=True)
        for result in results:
            if isinstance(result, ClientError):
                sync.error = sync.error or result
            elif isinstance(result, BaseException):
                raise result

    async def _delete_uncounted(self, pod: Pod, job: batch_v1.Job) -> None:
        """Delete a Pod without counting it as failed."""
        await self._finalizers.release(pod)
        await self._pods.delete(pod, job)

    def _set_suspension(self, state: JobState, sync: _Sync) -> None:
        status, now = sync.status, state.now
        if state.spec.suspend:
            if put_condition(status, job_condition(SUSPENDED, "JobSuspended", "Job suspended", now)):
                self._recorder.normal(state.job, "Suspended", "Job suspended")
                status.pop("startTime", None)
        elif put_condition(status, job_condition(SUSPENDED, "JobResumed", "Job resumed", now, status="False")):
            self._recorder.normal(state.job, "Resumed", "Job resumed")
            # The active deadline counts from the time the Job was resumed.
            status["startTime"] = format_time(now)

    async def _count(self, state: JobState, sync: _Sync) -> bool:
        """Count ended Pods and write the status. Return True if more Pods must be counted than fit into one status.

        The order of the writes makes the counts exact: see `counting`.
        """
        tracked = {pod.metadata.uid for pod in state.pods if is_tracked(pod)}
        # Step 3 for Pods that an earlier reconciliation has listed and released.
        count_named(sync.status, tracked)
        # Step 1 for Pods that have ended since.
        tally = name_terminated(state, sync.status, sync.end)
        final = _final_condition(sync, state.now)
        job = await self._write(state.job, sync.status)
        metadata = meta(job)
        self._failures[join_key(metadata.namespace, metadata.name)] = (metadata.uid, state.failures)
        # Step 2, after the status with the list was written.
        released, failure = await self._finalizers.release_all(tally.release)
        status = copy_json(sync.status)
        # Step 3 for the Pods that were released just now.
        count_named(status, tracked - released)
        over = failure is None and not tally.full and _may_end(final, status)
        if over and final is not None:
            put_condition(status, final)
            if final["type"] == COMPLETE:
                status["completionTime"] = final["lastTransitionTime"]
        await self._write(job, status)
        if failure is not None:
            raise failure
        if over and final is not None:
            self._record_end(state, status, final)
        return tally.full

    async def _write(self, job: batch_v1.Job, status: batch_v1.JobStatus) -> batch_v1.Job:
        """Write the status and return the updated Job. Raises `Conflict`, `ClientError`."""
        try:
            return await write_status(self._jobs, job, status, optimistic_lock=True) or job
        except NotFound as error:
            raise OwnerGone(str(error)) from error

    def _record_end(self, state: JobState, status: batch_v1.JobStatus, final: batch_v1.JobCondition) -> None:
        job = state.job
        if final["type"] != COMPLETE:
            self._recorder.warning(job, final["reason"], final["message"])
            return
        desired = state.spec.completions
        if desired is not None and status.get("succeeded", 0) > desired:
            message = "Too many succeeded pods running after completion count reached"
            self._recorder.warning(job, "TooManySucceededPods", message)
        self._recorder.normal(job, "Completed", "Job completed")


def _selector(job: batch_v1.Job) -> Selector:
    return selector_from_label_selector(job["spec"].get("selector"))


def _write_counts(sync: _Sync) -> None:
    """Write the numbers of Pods to the status."""
    if sync.active:
        sync.status["active"] = sync.active
    else:
        sync.status.pop("active", None)
    sync.status["ready"] = sync.ready
    sync.status["terminating"] = sync.terminating


def _final_condition(sync: _Sync, now: dt.datetime) -> batch_v1.JobCondition | None:
    """Return the condition that the Job gets when all Pods are counted.

    The condition that announces it is added to the status immediately.
    """
    end = sync.end
    if end is None:
        return None
    if end["type"] == FAILURE_TARGET:
        put_condition(sync.status, end)
        return failed(end, now)
    if end["type"] == SUCCESS_CRITERIA_MET:
        put_condition(sync.status, end)
        return job_condition(COMPLETE, end.get("reason", ""), end.get("message", ""), now)
    return end


def _may_end(final: batch_v1.JobCondition | None, status: batch_v1.JobStatus) -> bool:
    return final is not None and not status["uncountedTerminatedPods"] and not status["terminating"]


def _requeue_after_s(state: JobState, sync: _Sync, full: bool) -> float | None:
    """Return the seconds until the Job must be reconciled again without any change; None if never."""
    waits = [BATCH_S] if full else []
    if sync.wait is not None:
        waits.append(max(sync.wait.total_seconds(), BATCH_S))
    deadline = deadline_wait(state) if sync.end is None else None
    if deadline is not None:
        waits.append(max(deadline.total_seconds(), BATCH_S))
    return min(waits, default=None)
