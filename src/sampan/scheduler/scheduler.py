"""`Scheduler`: pops Pods from the queue, finds Nodes for them, and binds them.

Concurrency: one task chooses Nodes for one Pod at a time, so each decision takes all earlier ones into account. Further
steps (permit, prebind and bind, or the status after a failure) run in separate tasks. At most `BINDINGS_MAX` of these
run at a time; the choosing task waits for a free slot. Tasks that wait for a plugin, for example until a volume is
provisioned, do not hold a slot; their number is bounded by the number of Pods. All tasks are children of `run` and
end with it.
Source: pkg/scheduler/schedule_one.go, scheduler.go (1.36).
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sampan.client.client import Client
from sampan.client.errors import ClientError, NotFound
from sampan.client.patch import StrategicMergePatch
from sampan.component_base.resources import PODS
from sampan.core.time import Clock, timestamp
from sampan.kinds import core_v1
from sampan.operator.events import EventRecorder
from sampan.operator.events.event import ObjectReference
from sampan.operator.failures.error_text import is_expected, one_line, retry_level, traceback_of
from sampan.scheduler.algorithm import Algorithm
from sampan.scheduler.cache.cache import Cache
from sampan.scheduler.cache.columns import Columns
from sampan.scheduler.framework.cycle import Cycle, Unschedulable
from sampan.scheduler.framework.diagnosis import FitError
from sampan.scheduler.framework.framework import Framework
from sampan.scheduler.framework.plugin import ClusterEvent
from sampan.scheduler.metrics import ERROR, UNSCHEDULABLE, SchedulerMetrics
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.queue.queued_pod import QueuedPod
from sampan.scheduler.queue.scheduling_queue import SchedulingQueue
from sampan.scheduler.report import SchedulingReport

BINDINGS_MAX: Final = 64
"""Highest number of Pods that are bound at a time."""
EXPIRE_S: Final = 1.0
"""Interval of checks for assumed Pods that were never confirmed."""
_YIELD_AFTER_S: Final = 0.005
"""Seconds after which the task yields to other tasks."""

_log = logging.getLogger("sampan.scheduler")

NextStep = Callable[[], Awaitable[None]]
"""The step after a decision. It starts when there is a free slot."""

Actuate = Callable[[], Awaitable[None]] | None


@dataclass(frozen=True, slots=True)
class Profile:
    """Plugins of a profile, and the recorder of its events."""

    framework: Framework
    recorder: EventRecorder


@dataclass(frozen=True, slots=True)
class SchedulerParts:
    """Dependencies of the scheduler."""

    client: Client
    """Client that is used only for writes."""
    clock: Clock
    cache: Cache
    queue: SchedulingQueue
    pending: Mapping[str, PodInfo]
    """Pods without a Node in the informer's cache, by UID."""
    algorithm: Algorithm
    metrics: SchedulerMetrics
    report: SchedulingReport
    profiles: Mapping[str, Profile]


class Scheduler:
    """Runs scheduling. `run` is called at most once, on the leader."""

    def __init__(self, parts: SchedulerParts) -> None:
        self._parts = parts
        self._columns = Columns()
        self._slots = asyncio.Semaphore(BINDINGS_MAX)

    async def run(self) -> None:
        """Schedule until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._parts.queue.run(), name="scheduling queue")
            tasks.create_task(self._expire(), name="assumed pods")
            tasks.create_task(self._schedule(tasks), name="scheduling")

    async def _schedule(self, tasks: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        yield_at = loop.time() + _YIELD_AFTER_S
        while True:
            queued = await self._parts.queue.pop()
            next_step = await self._try(queued)
            if next_step is not None:
                # Wait here, in the choosing task: more decisions in advance would be made from a state that bindings
                # may change.
                await self._slots.acquire()
                tasks.create_task(self._in_slot(next_step), name=f"bind {queued.pod.key}")
            if loop.time() >= yield_at:
                await asyncio.sleep(0)
                yield_at = loop.time() + _YIELD_AFTER_S

    async def _in_slot(self, next_step: NextStep) -> None:
        try:
            await next_step()
        finally:
            self._slots.release()

    async def _expire(self) -> None:
        while True:
            await self._parts.cache.has_assumed.wait()
            await asyncio.sleep(EXPIRE_S)
            for pod in self._parts.cache.expire():
                _log.warning("binding of %s to node %s was never confirmed by a watch event", pod.key, pod.node_name)
                self._parts.queue.on_event(ClusterEvent.POD_DELETED, pod)

    # One Pod

    async def _try(self, queued: QueuedPod) -> NextStep | None:
        """Find a Node for a Pod; return the step that follows."""
        parts, pod = self._parts, queued.pod
        # The Pod may have been deleted or bound while it was in the queue.
        if pod.uid not in parts.pending or pod.is_terminating or parts.cache.get(pod.uid) is not None:
            parts.queue.done(pod.uid)
            parts.report.gone(pod.uid)
            return None
        profile = parts.profiles[pod.constraints.scheduler_name]
        cycle = Cycle(pod, parts.cache, self._columns, observe=parts.metrics.began(queued))
        try:
            node_name = await parts.algorithm.choose(profile.framework, cycle)
            parts.metrics.chosen(queued)
        except FitError as error:
            return await self._unschedulable(profile, cycle, queued, error)
        except Exception as error:
            text = "cannot schedule %s; retrying: %s"
            _log.log(retry_level(error), text, pod.key, one_line(error), exc_info=traceback_of(error))
            return functools.partial(self._failed, profile, queued, str(error))
        placed = pod.on(node_name)
        # Before the first await after the decision: the next Pod must see this one on its Node.
        parts.cache.assume(placed)
        try:
            for plugin in profile.framework.reserves:
                plugin.reserve(cycle, placed)
        except Unschedulable as error:
            self._undo(profile.framework, cycle, placed)
            return self._rejected(profile, queued, error)
        except Exception as error:
            _log.error(
                "cannot reserve resources for pod %s: %s", pod.key, one_line(error), exc_info=traceback_of(error)
            )
            self._undo(profile.framework, cycle, placed)
            return functools.partial(self._failed, profile, queued, str(error))
        return functools.partial(self._bind, profile, cycle, queued, placed)

    async def _bind(self, profile: Profile, cycle: Cycle, queued: QueuedPod, placed: PodInfo) -> None:
        """Prepare and bind a Pod after its Node is chosen."""
        framework, parts = profile.framework, self._parts
        try:
            await self._prepare(framework, cycle, placed)
            for bind in framework.binds:
                if await bind.bind(cycle, placed):
                    break
        except Unschedulable as error:
            self._undo(framework, cycle, placed)
            await self._rejected(profile, queued, error)()
            return
        except Exception as error:
            if not is_expected(error):
                _log.error("cannot bind %s: %s", placed.key, one_line(error), exc_info=error)
            self._undo(framework, cycle, placed)
            await self._failed(profile, queued, f"binding rejected: {error}")
            return
        parts.cache.finish_binding(placed.uid)
        parts.queue.done(placed.uid)
        parts.queue.nominator.remove(placed.uid)
        parts.report.bound(queued)
        parts.metrics.bound(queued, asyncio.get_running_loop().time() - queued.first_at)
        note = f"Successfully assigned {placed.key} to {placed.node_name}"
        profile.recorder.normal(_reference(placed), "Scheduled", note, action="Binding")
        for plugin in framework.post_binds:
            plugin.post_bind(cycle, placed)

    async def _prepare(self, framework: Framework, cycle: Cycle, placed: PodInfo) -> None:
        """Wait for plugins, which may take a long time. Meanwhile, other Pods can use the slot."""
        self._slots.release()
        try:
            for permit in framework.permits:
                await permit.permit(cycle, placed)
            for pre_bind in framework.pre_binds:
                await pre_bind.pre_bind(cycle, placed)
        finally:
            await self._slots.acquire()

    def _undo(self, framework: Framework, cycle: Cycle, placed: PodInfo) -> None:
        """Release the Node and all reservations of a Pod that is not bound."""
        # In reverse, so that each plugin still finds what it relied on. A plugin also unreserves what it never
        # reserved.
        for plugin in reversed(framework.reserves):
            plugin.unreserve(cycle, placed)
        if self._parts.cache.forget(placed.uid) is not None:
            # For other Pods the room on the Node is free again, as after a deletion.
            self._parts.queue.on_event(ClusterEvent.POD_DELETED, placed)

    # Failures

    async def _unschedulable(self, profile: Profile, cycle: Cycle, queued: QueuedPod, error: FitError) -> NextStep:
        """Handle a Pod that fits no Node: try preemption."""
        nominated: str | None = None
        actuate: Actuate = None
        self._parts.metrics.chosen(queued)
        for plugin in profile.framework.post_filters:
            try:
                result = await plugin.post_filter(cycle, profile.framework)
            except Exception as failure:
                _log.warning(
                    "plugin %s failed for %s: %s", plugin.name, queued.pod.key, failure, exc_info=traceback_of(failure)
                )
                continue
            error = error.with_post_filter(result.message) if result.message else error
            if result.nominated_node_name or result.clear:
                nominated, actuate = result.nominated_node_name, result.actuate
                break
        if nominated is not None:
            self._parts.metrics.preemptions += 1
            self._parts.queue.nominator.set(queued.pod, nominated)
        # Before the eviction: the deletions of the victims are events that must find the Pod in the queue.
        self._requeue(queued, error.plugins, str(error))
        return functools.partial(self._make_room, profile, queued.pod, str(error), (nominated, actuate))

    async def _make_room(self, profile: Profile, pod: PodInfo, message: str, room: tuple[str | None, Actuate]) -> None:
        """Write the Pod's status, and evict the victims."""
        nominated, actuate = room
        await self._report(profile, pod, ("Unschedulable", message), nominated)
        if actuate is not None:
            try:
                await actuate()
            except ClientError as error:
                _log.warning("cannot evict the victims for %s; retrying: %s", pod.key, error)
                self._parts.queue.activate(pod.uid)

    def _rejected(self, profile: Profile, queued: QueuedPod, error: Unschedulable) -> NextStep:
        """Handle a rejection by a plugin after the Node was chosen."""
        self._requeue(queued, frozenset((error.plugin,)), error.reason)
        return functools.partial(self._report, profile, queued.pod, ("Unschedulable", error.reason), None)

    async def _failed(self, profile: Profile, queued: QueuedPod, message: str) -> None:
        """Handle an error that is unrelated to the Pod."""
        self._requeue(queued, frozenset(), message, error=True)
        await self._report(profile, queued.pod, ("SchedulerError", message), None)

    def _requeue(self, queued: QueuedPod, plugins: frozenset[str], message: str, *, error: bool = False) -> None:
        self._parts.metrics.ended(queued, ERROR if error else UNSCHEDULABLE)
        if queued.pod.uid in self._parts.pending:
            self._parts.queue.requeue(queued, plugins, error=error)
            self._parts.report.failed(queued, message)
        else:
            self._parts.queue.done(queued.pod.uid)
            self._parts.report.gone(queued.pod.uid)

    async def _report(self, profile: Profile, pod: PodInfo, cause: tuple[str, str], nominated: str | None) -> None:
        reason, message = cause
        if pod.uid not in self._parts.pending:
            return  # The Pod is gone or has a Node, so the status would be outdated.
        profile.recorder.warning(_reference(pod), "FailedScheduling", message, action="Scheduling")
        parts = self._parts
        try:
            await write_not_scheduled(
                parts.client, parts.clock, pod, reason=reason, message=message, nominated=nominated
            )
        except NotFound:
            pass
        except ClientError as error:
            _log.warning("cannot write the status of %s: %s", pod.key, error)


def _reference(pod: PodInfo) -> ObjectReference:
    return ObjectReference("v1", "Pod", pod.namespace, pod.name, pod.uid, pod.resource_version)


async def write_not_scheduled(
    client: Client, clock: Clock, pod: PodInfo, *, reason: str, message: str, nominated: str | None
) -> None:
    """Patch the condition PodScheduled and the nomination, if they have changed.

    `nominated` None leaves the nomination unchanged. Raises `NotFound`, `ApiError`, `TransportError`.
    """
    status: dict[str, Any] = {}
    present = pod.scheduled
    if present is None or (present.status, present.reason, present.message) != ("False", reason, message):
        condition: core_v1.PodCondition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": reason,
            "message": message,
        }
        if present is None or present.status != "False":
            condition["lastTransitionTime"] = timestamp(clock)
        status["conditions"] = [condition]
    if nominated is not None and nominated != pod.nominated_node_name:
        status["nominatedNodeName"] = nominated or None
    if status:
        patch = StrategicMergePatch({"metadata": {"uid": pod.uid}, "status": status})
        await client.resource(PODS, namespace=pod.namespace).status.patch(pod.name, patch)
