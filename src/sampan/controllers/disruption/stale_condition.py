"""Stale disruption conditions: sets DisruptionTarget of a Pod to False if the Pod was not disrupted in time.

Source: kube-controller-manager pkg/controller/disruption/disruption.go `syncStalePodDisruption` (1.36).
"""

import datetime as dt
from collections.abc import Iterable
from typing import Any, Final

from sampan.client import Conflict, NotFound, StrategicMergePatch
from sampan.component_base.context import ControllerContext
from sampan.component_base.views import POD_VIEW, Pod
from sampan.core.time import parse_time, timestamp
from sampan.informer.ref import Ref
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result

NAME: Final = "stale-pod-disruption"
DISRUPTION_TARGET: Final = "DisruptionTarget"
TIMEOUT_S: Final = 120.0
_BY_KUBELET: Final = "TerminationByKubelet"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    Builder(context.manager).named(NAME).watches(POD_VIEW, _with_condition).complete(StaleCondition(context))


class StaleCondition:
    """Resets stale conditions."""

    def __init__(self, context: ControllerContext) -> None:
        self._clock = context.clock
        self._pods = context.manager.client.resource(POD_VIEW, namespace="")

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Pod. Raises `ApiError`, `TransportError`."""
        pod = await self._pods.find(request)
        wait_s = None if pod is None else stale_in_s(pod, self._clock.now())
        if pod is None or wait_s is None:
            return None
        if wait_s > 0:
            return Result(wait_s)
        condition = {"type": DISRUPTION_TARGET, "status": "False", "lastTransitionTime": timestamp(self._clock)}
        gone = {"reason": None, "message": None}
        metadata = {"uid": pod.metadata.uid, "resourceVersion": pod.metadata.resource_version}
        patch = StrategicMergePatch({"metadata": metadata, "status": {"conditions": [condition | gone]}})
        try:
            await self._pods.in_namespace(request.namespace).status.patch(request.name, patch)
        except (NotFound, Conflict):
            return None  # The event of that change queues the Pod again.
        return None


def stale_in_s(pod: Pod, now: dt.datetime) -> float | None:
    """Return the seconds until a Pod's condition is stale (≤ 0: now); None if it never will be.

    A termination announced by the kubelet may take any time.
    """
    condition = pod.condition(DISRUPTION_TARGET)
    if not pod.is_active or condition is None or condition.status != "True" or condition.reason == _BY_KUBELET:
        return None
    since = condition.last_transition_time
    return TIMEOUT_S - (now - parse_time(since)).total_seconds() if since else 0.0


def _with_condition(ref: Ref[Any]) -> Iterable[Request]:
    return (Request.of_key(ref.key),) if b'"DisruptionTarget"' in ref.raw else ()
