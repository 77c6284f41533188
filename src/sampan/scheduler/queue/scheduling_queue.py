"""`SchedulingQueue`: order of scheduling attempts, and the time of retries.

- active: Pods to schedule, by priority and then by age
- backoff: Pods to retry after a delay (1 s, doubled with each failure, 10 s at most). Pods that did not fail with an
  error are retried earlier if there is nothing else to do.
- unschedulable: Pods that wait for an event that may help, according to a plugin that rejected them. After five minutes
  they are retried in any case. Gated Pods wait here too.

Concurrency: everything runs on one event loop. One task pops; timers end the backoff; `run` retries Pods that have
waited too long. The queue has no bound: it holds the same Pods as the informer's store.
Source: pkg/scheduler/backend/queue/scheduling_queue.go, backoff_queue.go (1.36).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sampan.scheduler.framework.plugin import ClusterEvent, Hint
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.queue.event_log import EventLog, RecordedEvent
from sampan.scheduler.queue.heap import Heap
from sampan.scheduler.queue.nominator import Nominator
from sampan.scheduler.queue.queued_pod import QueuedPod
from sampan.scheduler.queue.unschedulable_pods import UnschedulablePods

UNSCHEDULABLE_MAX_S: Final = 300.0
FLUSH_S: Final = 30.0
ADDED: Final = "UnschedulablePodAdd"
ATTEMPT_FAILED: Final = "ScheduleAttemptFailure"
BACKOFF_ENDED: Final = "BackoffComplete"
POPPED_EARLY: Final = "PopFromBackoffQ"
FORCED: Final = "ForceActivate"
TIMED_OUT: Final = "UnschedulableTimeout"

Hints = Callable[[PodInfo], Mapping[str, Mapping[ClusterEvent, Hint]]]
"""Returns, for a Pod's profile, the events that each plugin waits for."""


@dataclass(frozen=True, slots=True)
class PodBackoff:
    """Backoff of failed Pods."""

    initial_s: float = 1.0
    max_s: float = 10.0

    def after(self, failures: int) -> float:
        """Return the backoff in seconds after a number of failures."""
        if failures <= 0:
            return 0.0
        return min(self.initial_s * 2.0 ** min(failures - 1, 30), self.max_s)


class SchedulingQueue:
    """Queue of the Pods without a Node."""

    def __init__(
        self,
        gate: Callable[[PodInfo], str],
        hints: Hints,
        *,
        nominator: Nominator | None = None,
        backoff: PodBackoff = PodBackoff(),
    ) -> None:
        """Create the queue. `gate` returns the reason why a Pod must not be scheduled yet; empty if it may."""
        self.nominator = Nominator() if nominator is None else nominator
        self._gate = gate
        self._hints = hints
        self._backoff = backoff
        self._active = Heap()
        self._backing_off = Heap()
        self._failed = Heap()
        """Pods in backoff after an error; they are never retried early."""
        self._unschedulable = UnschedulablePods()
        self._has_unschedulable = asyncio.Event()
        self._events = EventLog()
        self._in_flight: dict[str, QueuedPod] = {}
        self._filled = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self.incoming: Counter[tuple[str, str]] = Counter()
        """Number of Pods added to each part, by event."""
        self.on_delete: Callable[[str], None] = lambda uid: None
        """Called with the UID of a Pod that no longer waits for a Node."""

    def __len__(self) -> int:
        return len(self._active) + len(self._backing_off) + len(self._failed) + len(self._unschedulable)

    def pending(self) -> dict[str, int]:
        """Return the number of waiting Pods in each part."""
        gated = sum(bool(queued.gate) for queued in self._unschedulable)
        return {
            "active": len(self._active),
            "backoff": len(self._backing_off) + len(self._failed),
            "unschedulable": len(self._unschedulable) - gated,
            "gated": gated,
        }

    @property
    def active(self) -> int:
        """Number of Pods to schedule now."""
        return len(self._active)

    @property
    def in_flight(self) -> Collection[QueuedPod]:
        """Pods that are scheduled or bound now."""
        return self._in_flight.values()

    def oldest_active_at(self) -> float | None:
        """Return since when the first Pod to schedule waits; None if there is none. It looks at all of them."""
        return min((queued.active_at for queued in self._active), default=None)

    def due_at(self, uid: str) -> float | None:
        """Return the latest time of the next attempt for a Pod; None if it is not queued, or gated."""
        queued = self._find(uid)
        if queued is None or queued.gate:
            return None
        if uid in self._active:
            return queued.active_at
        if uid in self._unschedulable:
            return queued.added_at + UNSCHEDULABLE_MAX_S + FLUSH_S
        return queued.added_at + self._backoff.after(queued.errors if uid in self._failed else queued.failures)

    # Events from the informer

    def add(self, pod: PodInfo) -> None:
        """Add a new Pod that has no Node."""
        # A list after a broken watch reports known Pods as added.
        if pod.uid in self._in_flight or self._find(pod.uid) is not None:
            self.update(pod)
            return
        self.nominator.set(pod, pod.nominated_node_name)
        now = _now()
        self._enqueue(QueuedPod(pod, now, now), ADDED)

    def update(self, pod: PodInfo) -> None:
        """Update a changed Pod."""
        queued = self._find(pod.uid) or self._in_flight.get(pod.uid)
        if queued is None:
            self.add(pod)
            return
        old, queued.pod = queued.pod, pod
        self.nominator.set(pod, pod.nominated_node_name or self.nominator.node_of(pod.uid))
        if pod.uid in self._active:
            # The heap must be ordered again; other fields do not affect the order.
            if pod.priority != old.priority:
                self._active.put(queued, queued.order)
        elif pod.uid in self._in_flight and _changed(old, pod):
            # The attempt in progress works with the old state. If it fails, the change counts as a missed event.
            self._events.add(RecordedEvent(ClusterEvent.SELF_UPDATED, old, pod))
        elif pod.uid in self._unschedulable and _changed(old, pod):
            if queued.gate:
                self._unschedulable.remove(pod.uid)
                self._enqueue(queued, ClusterEvent.SELF_UPDATED.value)
            elif self._helps(queued, RecordedEvent(ClusterEvent.SELF_UPDATED, old, pod)):
                self._move(queued, ClusterEvent.SELF_UPDATED.value)

    def delete(self, uid: str) -> None:
        """Remove a Pod that no longer exists or has a Node."""
        self.nominator.remove(uid)
        for heap in (self._active, self._backing_off, self._failed):
            heap.remove(uid)
        self._unschedulable.remove(uid)
        self.on_delete(uid)

    def on_event(self, event: ClusterEvent, old: Any = None, new: Any = None) -> None:
        """Handle an event that may help unschedulable Pods."""
        recorded = RecordedEvent(event, old, new)
        self._events.add(recorded)
        for queued in self._unschedulable.waiting_for(lambda one: self._waits_for(one, event)):
            if not queued.gate and self._helps(queued, recorded):
                self._move(queued, event.value)

    # Calls from the scheduler

    async def pop(self) -> QueuedPod:
        """Remove and return the next Pod to schedule; wait for one if necessary."""
        while True:
            self._end_back_off(self._backing_off)
            queued = self._active.pop() or self._early()
            if queued is not None:
                break
            self._filled.clear()
            await self._filled.wait()
        queued.attempts += 1
        self._in_flight[queued.pod.uid] = queued
        self._events.begin(queued.pod.uid)
        return queued

    def done(self, uid: str) -> None:
        """Record the end of an attempt: the Pod has a Node or no longer exists."""
        self._in_flight.pop(uid, None)
        self._events.end(uid)

    def requeue(self, queued: QueuedPod, plugins: frozenset[str], *, error: bool = False) -> None:
        """Requeue a Pod after a failed attempt: the plugins have rejected it, or there was an `error`."""
        uid = queued.pod.uid
        queued.plugins = plugins
        queued.added_at = _now()
        if error:
            queued.errors += 1
        else:
            queued.failures += 1
            queued.errors = 0
        # A list before `done`, which drops the events.
        missed = list(self._events.missed(uid))
        self.done(uid)
        # What the Pod needs may have happened during the attempt. To wait for another event could be forever.
        if error or not plugins or any(self._helps(queued, event) for event in missed):
            self._back_off(queued, ATTEMPT_FAILED, error=error)
        else:
            self._park(queued, ATTEMPT_FAILED)

    def is_in_flight(self, uid: str) -> bool:
        """Return True if the Pod is being scheduled or bound."""
        return uid in self._in_flight

    def activate(self, uid: str) -> None:
        """Retry an unschedulable Pod now, without an event."""
        queued = self._unschedulable.get(uid)
        if queued is not None and not queued.gate:
            self._move(queued, FORCED)

    async def run(self) -> None:
        """Retry Pods that have waited too long, until cancelled."""
        while True:
            await self._has_unschedulable.wait()
            await asyncio.sleep(FLUSH_S)
            if not self._unschedulable:
                self._has_unschedulable.clear()
            late = _now() - UNSCHEDULABLE_MAX_S
            for queued in list(self._unschedulable):
                if not queued.gate and queued.added_at <= late:
                    self._move(queued, TIMED_OUT)

    # Moves between the parts

    def _find(self, uid: str) -> QueuedPod | None:
        for heap in (self._active, self._backing_off, self._failed):
            queued = heap.get(uid)
            if queued is not None:
                return queued
        return self._unschedulable.get(uid)

    def _enqueue(self, queued: QueuedPod, event: str) -> None:
        queued.gate = self._gate(queued.pod)
        if event != BACKOFF_ENDED:
            queued.event = event
        if queued.gate:
            self._park(queued, event)
            return
        queued.active_at = _now()
        # Gated time does not count: the latency metrics start when the Pod may be scheduled.
        if not queued.attempts:
            queued.first_at = _now()
        self._active.put(queued, queued.order)
        self.incoming["active", event] += 1
        self._filled.set()

    def _park(self, queued: QueuedPod, event: str) -> None:
        self._unschedulable.put(queued)
        self._has_unschedulable.set()
        self.incoming["unschedulable", event] += 1

    def _early(self) -> QueuedPod | None:
        """Pop a Pod before the end of its backoff, because no other Pod is active."""
        queued = self._backing_off.pop()
        if queued is not None:
            queued.active_at = _now()
            self.incoming["active", POPPED_EARLY] += 1
        return queued

    def _move(self, queued: QueuedPod, event: str) -> None:
        """Move an unschedulable Pod to the active queue, or to the backoff queue."""
        self._unschedulable.remove(queued.pod.uid)
        self._back_off(queued, event)

    def _back_off(self, queued: QueuedPod, event: str, *, error: bool = False) -> None:
        # From the time of the failure: the time in the unschedulable part counts as backoff.
        ends_at = queued.added_at + self._backoff.after(queued.errors if error else queued.failures)
        queued.event = event
        if ends_at <= _now():
            self._enqueue(queued, event)
            return
        self.incoming["backoff", event] += 1
        if error:
            self._failed.put(queued, ends_at)
        else:
            self._backing_off.put(queued, ends_at)
        self._filled.set()
        self._set_timer()

    def _set_timer(self) -> None:
        """Set the timer for the next Pod in backoff after an error.

        All other Pods in backoff are popped early, so they need no timer.
        """
        first = self._failed.first()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if first is None else asyncio.get_running_loop().call_at(first[0], self._retry_failed)

    def _retry_failed(self) -> None:
        self._end_back_off(self._failed)
        self._set_timer()

    def _end_back_off(self, heap: Heap) -> None:
        now = _now()
        while (first := heap.first()) is not None and first[0] <= now:
            queued = heap.pop()
            assert queued is not None
            self._enqueue(queued, BACKOFF_ENDED)

    def _waits_for(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        """Return True if a plugin that rejected the Pod waits for an event."""
        if event is ClusterEvent.WILDCARD:
            return True
        hints = self._hints(queued.pod)
        return any((events := hints.get(plugin)) is None or event in events for plugin in queued.plugins)

    def _helps(self, queued: QueuedPod, recorded: RecordedEvent) -> bool:
        if recorded.event is ClusterEvent.WILDCARD:
            return True
        hints = self._hints(queued.pod)
        for plugin in queued.plugins:
            events = hints.get(plugin)
            if events is None:
                return True
            hint = events.get(recorded.event)
            if hint is not None and hint(queued.pod, recorded.old, recorded.new):
                return True
        return False


def _changed(old: PodInfo, new: PodInfo) -> bool:
    """Return True if the Pod itself has changed, not just the status that the scheduler writes."""
    return old.labels != new.labels or old.constraints is not new.constraints


def _now() -> float:
    return asyncio.get_running_loop().time()
