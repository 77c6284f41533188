"""When what led to a change of endpoints has happened: by it the way from a ready Pod to its traffic is measured.

Source: staging k8s.io/endpointslice util/trigger_time_tracker.go (1.36).
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from sampan.loops.views import Pod
from sampan.operator.request import Request
from sampan.resource import Object, meta

ANNOTATION: Final = "endpoints.kubernetes.io/last-change-trigger-time"


class _Seen(NamedTuple):
    service: str
    pods: dict[str, str]


class TriggerTimes:
    """Remembers for each Service when its Pods became (un)ready. Times are those of the API: texts in order of time."""

    def __init__(self) -> None:
        self._seen: dict[Request, _Seen] = {}

    def last(self, service: Object, pods: Iterable[Pod]) -> str:
        """The time of the first change since the last call; the Service's creation the first time; "" for none."""
        metadata = meta(service)
        key = Request(metadata.namespace, metadata.name)
        created = metadata.creation_timestamp or ""
        before = self._seen.get(key)
        now = _Seen(created, {pod.metadata.name: time for pod in pods if (time := _ready_since(pod))})
        self._seen[key] = now
        if before is None:
            return created
        changed = [time for name, time in now.pods.items() if time > before.pods.get(name, "")]
        if created > before.service:
            changed.append(created)
        return min(changed, default="")

    def forget(self, service: Request) -> None:
        """The Service is gone."""
        self._seen.pop(service, None)


def _ready_since(pod: Pod) -> str:
    ready = pod.condition("Ready")
    return ready.last_transition_time or "" if ready is not None else ""
