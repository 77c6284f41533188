"""Trigger times of endpoint changes, from which the delay between a ready Pod and its traffic is measured.

Source: staging k8s.io/endpointslice util/trigger_time_tracker.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from sampan.component_base.views import Pod
from sampan.kinds import core_v1
from sampan.operator.request import Request
from sampan.resource import meta

ANNOTATION: Final = "endpoints.kubernetes.io/last-change-trigger-time"


class _Times(NamedTuple):
    service: str
    pods: dict[str, str]


class TriggerTimes:
    """Tracks for each Service the times its Pods became ready or unready.

    Times are API timestamps; as text they sort by time.
    """

    def __init__(self) -> None:
        self._times: dict[Request, _Times] = {}

    def last(self, service: core_v1.Service, pods: Iterable[Pod]) -> str:
        """Return the time of the first change since the last call; empty if nothing changed.

        The first call for a Service returns the time of its creation.
        """
        metadata = meta(service)
        key = Request(metadata.namespace, metadata.name)
        created = metadata.creation_timestamp or ""
        before = self._times.get(key)
        now = _Times(created, {pod.metadata.name: time for pod in pods if (time := _ready_since(pod))})
        self._times[key] = now
        if before is None:
            return created
        changed = [time for name, time in now.pods.items() if time > before.pods.get(name, "")]
        if created > before.service:
            changed.append(created)
        return min(changed, default="")

    def forget(self, service: Request) -> None:
        """Drop the times of a deleted Service."""
        self._times.pop(service, None)


def _ready_since(pod: Pod) -> str:
    ready = pod.condition("Ready")
    return ready.last_transition_time or "" if ready is not None else ""
