"""`FewPodsEvents`, and `SimulatedSupport`: events of simulated Pods: those of a kubelet, of few Pods a second.

Events of thousands of Pods that start at once would overload the API server, and delay these Pods.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from sampan.core.time import Clock
from sampan.node.containers.support import NoSupport
from sampan.node.environment.fields import PodPlace
from sampan.node.node_events import NodeEvents
from sampan.node.runtime import Runtime
from sampan.node.views.pod import Pod
from sampan.operator.events import EventBroadcaster

PODS_AT_ONCE: Final = 20
"""Number of Pods that may start at the same time and all have events."""
PODS_PER_S: Final = 2.0
"""Number of further Pods with events in a second."""
_KNOWN_MAX: Final = 10_000


class FewPodsEvents(NodeEvents):
    """Recorder that records either all Normal events of a Pod, or none. Warnings are always recorded."""

    def __init__(self, broadcaster: EventBroadcaster, clock: Clock) -> None:
        super().__init__(broadcaster, clock)
        self._admitted: OrderedDict[str, bool] = OrderedDict()
        self._left = float(PODS_AT_ONCE)
        self._refilled_at = 0.0

    def normal(self, pod: Pod, reason: str, note: str, container: str = "") -> None:
        """Record a Normal event, if the Pod is one of those with events."""
        if self._admits(pod.metadata.uid):
            super().normal(pod, reason, note, container)

    def _admits(self, uid: str) -> bool:
        known = self._admitted.get(uid)
        if known is None:
            known = self._admitted[uid] = self._take()
            if len(self._admitted) > _KNOWN_MAX:
                self._admitted.popitem(last=False)
        return known

    def _take(self) -> bool:
        now = asyncio.get_running_loop().time()
        self._left = min(float(PODS_AT_ONCE), self._left + (now - self._refilled_at) * PODS_PER_S)
        self._refilled_at = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class SimulatedSupport(NoSupport):
    """Support for simulated containers that records when they are stopped."""

    def __init__(self, events: NodeEvents) -> None:
        self._events = events
        self._stopping: dict[str, set[str]] = {}

    async def stop(self, runtime: Runtime, place: PodPlace, names: Sequence[str], grace_s: float) -> None:
        """Stop containers, and record it once for each run."""
        uid = place.pod.metadata.uid
        stopping = self._stopping.setdefault(uid, set())
        records = runtime.containers(uid)
        for name in names:
            record = records.get(name)
            if record is not None and record.is_running and record.id not in stopping:
                stopping.add(record.id)
                self._events.normal(place.pod, "Killing", f"Stopping container {name}", name)
        await super().stop(runtime, place, names, grace_s)

    async def forget(self, uid: str) -> None:
        """Forget a Pod."""
        self._stopping.pop(uid, None)
