"""`SchedulingQueue`: which Pod is tried next, and when a Pod that fitted nowhere is tried again.

- active: to be tried, by priority and then by age
- back-off: to be tried when some time is over (1 s, doubled with each failure, 10 s at most); sooner when nothing else
  is to be done and the Pod did not fail by an error
- unschedulable: waits until something happens that may help, says a plugin that has rejected it; after five minutes it
  is tried in any case. Pods with gates wait here too.

Concurrency: everything on the event loop. One task pops; timers of the loop end the back-off; `run` looks for Pods
that wait too long. The queue has no bound: it holds what the informer's store holds.
Source: pkg/scheduler/backend/queue/scheduling_queue.go, backoff_queue.go (1.36).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sampan.scheduler.framework.plugin import ClusterEvent, Hint
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.queue.event_log import EventLog, Happening
from sampan.scheduler.queue.heap import Heap
from sampan.scheduler.queue.nominator import Nominator
from sampan.scheduler.queue.parked import Parked
from sampan.scheduler.queue.queued_pod import QueuedPod

UNSCHEDULABLE_MAX_S: Final = 300.0
FLUSH_S: Final = 30.0
ADDED: Final = "UnschedulablePodAdd"
ATTEMPT_FAILED: Final = "ScheduleAttemptFailure"
BACKOFF_ENDED: Final = "BackoffComplete"
POPPED_EARLY: Final = "PopFromBackoffQ"
FORCED: Final = "ForceActivate"
TIMED_OUT: Final = "UnschedulableTimeout"

Hints = Callable[[PodInfo], Mapping[str, Mapping[ClusterEvent, Hint]]]
"""The events that each plugin of a Pod's profile waits for."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a Pod waits that failed."""

    initial_s: float = 1.0
    max_s: float = 10.0

    def after(self, failures: int) -> float:
        """Seconds after so many failures."""
        if failures <= 0:
            return 0.0
        return min(self.initial_s * 2.0 ** min(failures - 1, 30), self.max_s)


class SchedulingQueue:
    """The Pods without a Node."""

    def __init__(
        self,
        gate: Callable[[PodInfo], str],
        hints: Hints,
        *,
        nominator: Nominator | None = None,
        backoff: Backoff = Backoff(),
    ) -> None:
        """`gate` tells why a Pod must not be tried yet; empty when it may."""
        self.nominator = Nominator() if nominator is None else nominator
        self._gate = gate
        self._hints = hints
        self._backoff = backoff
        self._active = Heap()
        self._backing_off = Heap()
        self._failed = Heap()
        """Those that back off after an error: never tried before their time."""
        self._unschedulable = Parked()
        self._events = EventLog()
        self._in_flight: dict[str, QueuedPod] = {}
        self._filled = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self.incoming: Counter[tuple[str, str]] = Counter()
        """How many Pods came into which part, and why."""

    def __len__(self) -> int:
        return len(self._active) + len(self._backing_off) + len(self._failed) + len(self._unschedulable)

    def pending(self) -> dict[str, int]:
        """How many Pods wait in which part."""
        gated = sum(bool(queued.gate) for queued in self._unschedulable)
        return {
            "active": len(self._active),
            "backoff": len(self._backing_off) + len(self._failed),
            "unschedulable": len(self._unschedulable) - gated,
            "gated": gated,
        }

    # What the informer tells

    def add(self, pod: PodInfo) -> None:
        """A Pod without a Node is there."""
        if pod.uid in self._in_flight or self._find(pod.uid) is not None:
            self.update(pod)
            return
        self.nominator.set(pod, pod.nominated_node_name)
        now = _now()
        self._enqueue(QueuedPod(pod, now, now), ADDED)

    def update(self, pod: PodInfo) -> None:
        """It has changed."""
        queued = self._find(pod.uid) or self._in_flight.get(pod.uid)
        if queued is None:
            self.add(pod)
            return
        old, queued.pod = queued.pod, pod
        self.nominator.set(pod, pod.nominated_node_name or self.nominator.node_of(pod.uid))
        if pod.uid in self._active:
            if pod.priority != old.priority:
                self._active.put(queued, queued.order)
        elif pod.uid in self._in_flight and _changed(old, pod):
            self._events.add(Happening(ClusterEvent.SELF_UPDATED, old, pod))
        elif pod.uid in self._unschedulable and _changed(old, pod):
            if queued.gate:
                self._unschedulable.remove(pod.uid)
                self._enqueue(queued, ClusterEvent.SELF_UPDATED.value)
            elif self._helps(queued, Happening(ClusterEvent.SELF_UPDATED, old, pod)):
                self._move(queued, ClusterEvent.SELF_UPDATED.value)

    def delete(self, uid: str) -> None:
        """It is gone, or has a Node."""
        self.nominator.remove(uid)
        for heap in (self._active, self._backing_off, self._failed):
            heap.remove(uid)
        self._unschedulable.remove(uid)

    def happened(self, event: ClusterEvent, old: Any = None, new: Any = None) -> None:
        """Something has happened that may help Pods which fitted nowhere."""
        happening = Happening(event, old, new)
        self._events.add(happening)
        for queued in self._unschedulable.alike(lambda one: self._waits_for(one, event)):
            if not queued.gate and self._helps(queued, happening):
                self._move(queued, event.value)

    # What the scheduler does

    async def pop(self) -> QueuedPod:
        """Take out the Pod that is to be tried next; wait for one."""
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
        """The try is over: it has a Node, or nobody wants it any more."""
        self._in_flight.pop(uid, None)
        self._events.end(uid)

    def requeue(self, queued: QueuedPod, plugins: frozenset[str], *, error: bool = False) -> None:
        """The try has failed: these plugins have rejected it, or there was an `error`."""
        uid = queued.pod.uid
        queued.plugins = plugins
        queued.added_at = _now()
        if error:
            queued.errors += 1
        else:
            queued.failures += 1
            queued.errors = 0
        missed = list(self._events.missed(uid))
        self.done(uid)
        if error or not plugins or any(self._helps(queued, happening) for happening in missed):
            self._back_off(queued, ATTEMPT_FAILED, error=error)
        else:
            self._park(queued, ATTEMPT_FAILED)

    def is_in_flight(self, uid: str) -> bool:
        """Whether the Pod is being tried or bound."""
        return uid in self._in_flight

    def activate(self, uid: str) -> None:
        """Try a Pod again that waits as unschedulable, whatever has happened."""
        queued = self._unschedulable.get(uid)
        if queued is not None and not queued.gate:
            self._move(queued, FORCED)

    async def run(self) -> None:
        """Try Pods again that have waited too long. Until cancelled."""
        while True:
            await asyncio.sleep(FLUSH_S)
            late = _now() - UNSCHEDULABLE_MAX_S
            for queued in list(self._unschedulable):
                if not queued.gate and queued.added_at <= late:
                    self._move(queued, TIMED_OUT)

    # Moves

    def _find(self, uid: str) -> QueuedPod | None:
        for heap in (self._active, self._backing_off, self._failed):
            queued = heap.get(uid)
            if queued is not None:
                return queued
        return self._unschedulable.get(uid)

    def _enqueue(self, queued: QueuedPod, why: str) -> None:
        queued.gate = self._gate(queued.pod)
        if queued.gate:
            self._park(queued, why)
            return
        if not queued.attempts:
            queued.first_at = _now()
        self._active.put(queued, queued.order)
        self.incoming["active", why] += 1
        self._filled.set()

    def _park(self, queued: QueuedPod, why: str) -> None:
        self._unschedulable.put(queued)
        self.incoming["unschedulable", why] += 1

    def _early(self) -> QueuedPod | None:
        """One that backs off, as nothing else is to be done."""
        queued = self._backing_off.pop()
        if queued is not None:
            self.incoming["active", POPPED_EARLY] += 1
        return queued

    def _move(self, queued: QueuedPod, why: str) -> None:
        """From the unschedulable ones to where it is tried again."""
        self._unschedulable.remove(queued.pod.uid)
        self._back_off(queued, why)

    def _back_off(self, queued: QueuedPod, why: str, *, error: bool = False) -> None:
        ends_at = queued.added_at + self._backoff.after(queued.errors if error else queued.failures)
        if ends_at <= _now():
            self._enqueue(queued, why)
            return
        self.incoming["backoff", why] += 1
        if error:
            self._failed.put(queued, ends_at)
        else:
            self._backing_off.put(queued, ends_at)
        self._filled.set()
        self._set_timer()

    def _set_timer(self) -> None:
        """Only errors need one: all others are popped as soon as nothing else is to be done."""
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
        """Whether a plugin that has rejected the Pod is to be asked about an event."""
        if event is ClusterEvent.WILDCARD:
            return True
        hints = self._hints(queued.pod)
        return any((events := hints.get(plugin)) is None or event in events for plugin in queued.plugins)

    def _helps(self, queued: QueuedPod, happening: Happening) -> bool:
        if happening.event is ClusterEvent.WILDCARD:
            return True
        hints = self._hints(queued.pod)
        for plugin in queued.plugins:
            events = hints.get(plugin)
            if events is None:
                return True
            hint = events.get(happening.event)
            if hint is not None and hint(queued.pod, happening.old, happening.new):
                return True
        return False


def _changed(old: PodInfo, new: PodInfo) -> bool:
    """Whether more has changed than the scheduler's own words in the status."""
    return old.labels != new.labels or old.constraints is not new.constraints


def _now() -> float:
    return asyncio.get_running_loop().time()
