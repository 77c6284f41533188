"""Reconcile one Job.

Concurrency: the manager runs the controller; one Job is looked at by one worker at a time. Reads see what was written
here before. The status is the memory of what was counted, and is written only to the Job as it was read
(resourceVersion): what conflicts is looked at again.
Source: kube-controller-manager pkg/controller/job/job_controller.go (1.36).
"""

import asyncio
import copy
import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sampan.client import ClientError, Conflict, NotFound
from sampan.controllers.job.backoff import Failures
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
from sampan.controllers.job.seen import TRACKING_FINALIZER, Seen, is_tracked, look
from sampan.controllers.job.spec import JobSpec
from sampan.controllers.job.templates import new_pod
from sampan.controllers.ownership import Owned, OwnerGone, owners_of_pods
from sampan.controllers.pod_control import PodControl
from sampan.controllers.slow_start import slow_start
from sampan.controllers.status import status_of, write_status
from sampan.core.label_selectors import Selector, selector_from_label_selector
from sampan.core.time import format_time
from sampan.informer.key import join_key
from sampan.loops.context import ControllerContext
from sampan.loops.resources import JOBS
from sampan.loops.views import POD_VIEW, Pod
from sampan.operator.controller import ControllerOptions
from sampan.operator.handlers import for_object
from sampan.operator.predicates import GenerationChanged
from sampan.operator.queue import ItemExponentialFailureRateLimiter
from sampan.operator.request import Request, Result
from sampan.operator.source import KindSource
from sampan.resource import Object, meta

NAME: Final = "job-controller"
WORKERS: Final = 5
BATCH_S: Final = 0.1
"""Changes of Pods and of the status are looked at so long after the first of them, all at once."""
_RETRY_FIRST_S: Final = 0.1
_RETRY_LONGEST_S: Final = 60.0
_MODES: Final = ("NonIndexed", "Indexed")


@dataclass(slots=True)
class _Turn:
    """What becomes of a Job in the course of one look."""

    status: Object
    active: int
    ready: int
    terminating: int
    end: Object | None
    """The condition that ends the Job; None when it goes on, or cannot be ended yet."""
    error: ClientError | None = None
    wait: dt.timedelta | None = None


class JobController:
    """Runs Jobs: makes Pods until enough have succeeded, or too many have failed."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context
        self._clock = context.clock
        self._jobs = context.manager.client.resource(JOBS, namespace="")
        self._informer = context.informer(JOBS)
        self._owned: Owned[Pod] = Owned(context, POD_VIEW, JOBS, finalizer=TRACKING_FINALIZER)
        self._recorder = context.recorder(NAME)
        self._pods = PodControl(context, self._recorder)
        self._finalizers = FinalizerRemoval(context)
        self._failures: dict[str, tuple[str, Failures]] = {}
        """By key of unfinished Jobs: the uid, and how its Pods fail. Lost with the process, as in Kubernetes."""

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
        """One look."""
        job = await self._jobs.find(request)
        spec = JobSpec.of(job) if job is not None else None
        if job is None or spec is None or spec.managed_elsewhere or finished_condition(job) is not None:
            self._failures.pop(request.key, None)
            return None
        if spec.mode not in _MODES:
            self._recorder.warning(job, "UnknownCompletionMode", "Skipped Job sync because completion mode is unknown")
            return None
        uid, failures = self._failures.get(request.key, ("", Failures()))
        try:
            pods = await self._owned.claim(job, _selector(job))
            known = failures if uid == meta(job).uid else Failures()
            return await self._turn(look(job, pods, self._clock.now(), known))
        except OwnerGone:
            return None
        except Conflict:
            # Somebody has changed the Job meanwhile; the cache has it soon.
            return Result(BATCH_S)

    async def _turn(self, seen: Seen) -> Result:
        turn = _Turn(
            status=status_of(seen.job),
            active=len(seen.active),
            ready=sum(pod.is_ready for pod in seen.active),
            terminating=seen.terminating,
            end=outcome(seen),
        )
        if not seen.spec.suspend:
            turn.status.setdefault("startTime", format_time(seen.now))
        if turn.end is not None:
            # They keep their finalizers: they are counted before they go.
            await self._delete(seen, turn, seen.active, self._pods.delete)
            if turn.error is not None:
                turn.end = None
        else:
            await self._go_on(seen, turn)
        _tell_counts(turn)
        full = await self._count(seen, turn)
        if turn.error is not None:
            raise turn.error
        return Result(_next_look_s(seen, turn, full))

    async def _go_on(self, seen: Seen, turn: _Turn) -> None:
        """Make or delete Pods of a Job that goes on, unless it is complete by now."""
        managed = meta(seen.job).deletion_timestamp is None
        if managed:
            todo = plan(seen)
            turn.wait = todo.wait
            await self._delete(seen, turn, todo.delete, self._delete_uncounted)
            await self._create(seen, turn, todo.create)
        turn.end = completion(seen, turn.active)
        if managed and turn.end is None:
            self._tell_suspension(seen, turn)

    async def _create(self, seen: Seen, turn: _Turn, indexes: Sequence[int | None]) -> None:
        async def create(position: int) -> None:
            if await self._pods.create(new_pod(seen, indexes[position]), seen.job) is not None:
                turn.active += 1

        try:
            await slow_start(len(indexes), create)
        except ClientError as error:
            turn.error = error

    async def _delete(
        self, seen: Seen, turn: _Turn, pods: Sequence[Pod], delete: Callable[[Pod, Object], Awaitable[None]]
    ) -> None:
        async def end(pod: Pod) -> None:
            await delete(pod, seen.job)
            turn.active -= 1
            turn.terminating += 1
            turn.ready -= pod.is_ready

        results = await asyncio.gather(*map(end, pods), return_exceptions=True)
        for result in results:
            if isinstance(result, ClientError):
                turn.error = turn.error or result
            elif isinstance(result, BaseException):
                raise result

    async def _delete_uncounted(self, pod: Pod, job: Object) -> None:
        """Delete a Pod that is not to count as failed."""
        await self._finalizers.release(pod)
        await self._pods.delete(pod, job)

    def _tell_suspension(self, seen: Seen, turn: _Turn) -> None:
        status, now = turn.status, seen.now
        if seen.spec.suspend:
            if put_condition(status, job_condition(SUSPENDED, "JobSuspended", "Job suspended", now)):
                self._recorder.normal(seen.job, "Suspended", "Job suspended")
                status.pop("startTime", None)
        elif put_condition(status, job_condition(SUSPENDED, "JobResumed", "Job resumed", now, status="False")):
            self._recorder.normal(seen.job, "Resumed", "Job resumed")
            # The time that a Job may be active begins anew.
            status["startTime"] = format_time(now)

    async def _count(self, seen: Seen, turn: _Turn) -> bool:
        """Count what has ended, and write the status. True when there is more to be counted than fits.

        The order is what makes the counts exact: see `counting`.
        """
        tracked = {pod.metadata.uid for pod in seen.pods if is_tracked(pod)}
        count_named(turn.status, tracked)
        tally = name_terminated(seen, turn.status, turn.end)
        final = _final_condition(turn, seen.now)
        job = await self._write(seen.job, turn.status)
        metadata = meta(job)
        self._failures[join_key(metadata.namespace, metadata.name)] = (metadata.uid, seen.failures)
        released, failure = await self._finalizers.release_all(tally.release)
        status = copy.deepcopy(turn.status)
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
            self._tell_end(seen, status, final)
        return tally.full

    async def _write(self, job: Object, status: Object) -> Object:
        """The Job as it is with this status. Raises `Conflict`, `ClientError`."""
        try:
            return await write_status(self._jobs, job, status, optimistic_lock=True) or job
        except NotFound as error:
            raise OwnerGone(str(error)) from error

    def _tell_end(self, seen: Seen, status: Object, final: Object) -> None:
        job = seen.job
        if final["type"] != COMPLETE:
            self._recorder.warning(job, final["reason"], final["message"])
            return
        wanted = seen.spec.completions
        if wanted is not None and status.get("succeeded", 0) > wanted:
            message = "Too many succeeded pods running after completion count reached"
            self._recorder.warning(job, "TooManySucceededPods", message)
        self._recorder.normal(job, "Completed", "Job completed")


def _selector(job: Object) -> Selector:
    return selector_from_label_selector(job["spec"].get("selector"))


def _tell_counts(turn: _Turn) -> None:
    """Write the numbers of Pods into the status."""
    if turn.active:
        turn.status["active"] = turn.active
    else:
        turn.status.pop("active", None)
    turn.status["ready"] = turn.ready
    turn.status["terminating"] = turn.terminating


def _final_condition(turn: _Turn, now: dt.datetime) -> Object | None:
    """The condition that the Job will have when all is counted; the one that announces it goes into the status."""
    end = turn.end
    if end is None:
        return None
    if end["type"] == FAILURE_TARGET:
        put_condition(turn.status, end)
        return failed(end, now)
    if end["type"] == SUCCESS_CRITERIA_MET:
        put_condition(turn.status, end)
        return job_condition(COMPLETE, end.get("reason", ""), end.get("message", ""), now)
    return end


def _may_end(final: Object | None, status: Object) -> bool:
    return final is not None and not status["uncountedTerminatedPods"] and not status["terminating"]


def _next_look_s(seen: Seen, turn: _Turn, full: bool) -> float | None:
    """The seconds until the Job must be looked at again, whatever happens."""
    waits = [BATCH_S] if full else []
    if turn.wait is not None:
        waits.append(max(turn.wait.total_seconds(), BATCH_S))
    deadline = deadline_wait(seen) if turn.end is None else None
    if deadline is not None:
        waits.append(max(deadline.total_seconds(), BATCH_S))
    return min(waits, default=None)
