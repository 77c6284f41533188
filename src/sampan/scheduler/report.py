"""`SchedulingReport`: the attempts of the scheduler, for /debug/controllers.

It has the form of a controller's report: objects are Pods, and a reconcile is an attempt to schedule one. Each attempt
costs one record. Pods that no longer exist are not failing: they are removed.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Final

from sampan.operator.failures.error_text import ERROR_CHARACTERS_MAX, cut
from sampan.operator.history.object_write import ObjectWrite
from sampan.operator.history.reconcile_attempt import ReconcileAttempt
from sampan.operator.history.reconcile_history import ReconcileHistory, ReconcileRate
from sampan.operator.queue import Cause, CauseOrigin, Causes
from sampan.operator.request import Request
from sampan.scheduler.pod_info import PodInfo
from sampan.scheduler.queue.queued_pod import QueuedPod
from sampan.scheduler.queue.scheduling_queue import ADDED, ATTEMPT_FAILED, SchedulingQueue

NAME: Final = "scheduler"
RESOURCE: Final = "pods"
_EVENTS: Final[Mapping[str, str]] = {ADDED: "create", ATTEMPT_FAILED: "retry"}
"""Events of the queue that reports of controllers have, too. Others keep their name: NodeAdd, AssignedPodDelete."""
_ORIGIN: Final = CauseOrigin(RESOURCE)


class PodQueue:
    """State of the scheduling queue, by the names of Pods."""

    def __init__(self, queue: SchedulingQueue, uids: Mapping[Request, str], now: Callable[[], float]) -> None:
        """`uids`: the Pods whose last attempt has failed."""
        self._queue = queue
        self._uids = uids
        self._now = now

    def __len__(self) -> int:
        return self._queue.active

    @property
    def waiting(self) -> int:
        """Number of Pods in backoff, of those that wait for an event, and of gated ones."""
        return len(self._queue) - self._queue.active

    @property
    def processing(self) -> frozenset[Request]:
        """Pods that are scheduled or bound now."""
        return frozenset(_request(queued.pod) for queued in self._queue.in_flight)

    def oldest_due_at(self) -> float | None:
        """Return since when the first Pod in the active queue waits."""
        return self._queue.oldest_active_at()

    def due_at(self, key: Request) -> float | None:
        """Return the latest time of the next attempt: an event that helps the Pod makes it earlier."""
        uid = self._uids.get(key)
        return None if uid is None else self._queue.due_at(uid)

    def running_since(self, key: Request) -> float | None:
        """Return the start of the running attempt for a Pod."""
        for queued in self._queue.in_flight:
            if _request(queued.pod) == key:
                return self._now() - (perf_counter() - queued.began_s)
        return None


class SchedulingReport:
    """Attempts, rate and queue of a scheduler."""

    name = NAME
    resource = RESOURCE
    pause = None
    """Scheduling of a Pod is paused with scheduling gates."""
    names_objects = True

    def __init__(
        self, queue: SchedulingQueue, history: ReconcileHistory, *, workers: int, now: Callable[[], float]
    ) -> None:
        """`now` is the clock of the event loop."""
        self.workers = workers
        self.rate = ReconcileRate()
        self._pods = queue
        self._failing: dict[Request, str] = {}
        self._requests: dict[str, Request] = {}
        self.queue = PodQueue(queue, self._failing, now)
        self._history = history
        self._now = now
        queue.on_delete = self._deleted

    @property
    def active(self) -> int:
        """Number of Pods that are scheduled or bound now."""
        return len(self._pods.in_flight)

    def is_paused(self, request: Request) -> bool:
        """Return False: see `pause`."""
        return False

    def bound(self, queued: QueuedPod) -> None:
        """Record an attempt that has bound its Pod."""
        request = _request(queued.pod)
        write = ObjectWrite("create", RESOURCE, request.key, "", "binding")
        self._add(queued, request, "", None, (write,))
        self._forget(queued.pod.uid)

    def failed(self, queued: QueuedPod, error: str) -> None:
        """Record an attempt that has failed, after its Pod is queued again."""
        request, uid = _request(queued.pod), queued.pod.uid
        due_at = self._pods.due_at(uid)
        self._failing[request], self._requests[uid] = uid, request
        self._add(queued, request, error, None if due_at is None else max(0.0, due_at - self._now()), ())

    def _add(
        self, queued: QueuedPod, request: Request, error: str, next_s: float | None, writes: tuple[ObjectWrite, ...]
    ) -> None:
        now, duration_s = self._now(), perf_counter() - queued.began_s
        key = (NAME, request)
        cause = Cause(_EVENTS.get(queued.event, queued.event), _ORIGIN)
        record = ReconcileAttempt(
            f"{queued.pod.uid}-{queued.attempts}",
            now - duration_s,
            duration_s,
            now - duration_s - queued.active_at,
            cut(error, ERROR_CHARACTERS_MAX),
            next_s,
            self._history.next_attempt(key),
            Causes((cause,)),
            writes=writes,
        )
        self.rate.count(now, failed=bool(error))
        self._history.add(key, record)

    def _deleted(self, uid: str) -> None:
        # An attempt that runs still ends: the Pod has perhaps a Node because of it.
        if not self._pods.is_in_flight(uid):
            self.gone(uid)

    def gone(self, uid: str) -> None:
        """Remove a Pod that no longer waits for a Node, if its last attempt has failed."""
        request = self._forget(uid)
        if request is not None:
            self._history.remove((NAME, request))

    def _forget(self, uid: str) -> Request | None:
        request = self._requests.pop(uid, None)
        if request is not None and self._failing.get(request) == uid:
            del self._failing[request]
        return request


def _request(pod: PodInfo) -> Request:
    return Request(pod.namespace, pod.name)
