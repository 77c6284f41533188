"""The load balancer controller: explains in an event why a Service of type LoadBalancer stays pending.

Kubernetes runs the loop of this name only with a cloud provider, which creates the load balancer. This controller
creates no load balancer. It records one event for a Service if after `WAIT_S` no other controller has published an
address.

Concurrency: a Service is reconciled by one worker at a time. Each pending Service needs one timer until its event is
recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sampan.client import ListOptions
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import EVENTS, SERVICES
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "service-lb-controller"
REASON: Final = "NoLoadBalancer"
NOTE: Final = (
    "no load balancer: this cluster has none; use kubectl port-forward, a NodePort, or set status.loadBalancer"
)
WAIT_S: Final = 30.0
"""Time in which another controller may publish an address."""
_CLEANUP: Final = "service.kubernetes.io/load-balancer-cleanup"
"""Finalizer with which a cloud's controller marks the Services that it works on."""


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    Builder(context.manager).named(NAME).watches(SERVICES, _load_balancers).complete(LoadBalancerHints(context))


class LoadBalancerHints:
    """Records the event for pending Services.

    A Service is remembered from its first reconciliation until it is no longer pending.
    """

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._services = client.resource(SERVICES, namespace="")
        self._events = client.direct.resource(EVENTS, namespace="")
        self._recorder = context.recorder("service-controller")
        self._due: dict[Request, tuple[str, float | None]] = {}
        """UID of each pending Service, and the time of its event; None after the event."""

    async def reconcile(self, request: Request) -> Result | None:
        """Record the event of one Service when it is due. Raises `ApiError`, `TransportError`."""
        service = await self._services.find(request)
        if service is None or not _is_pending(service):
            self._due.pop(request, None)
            return None
        uid, now = meta(service).uid, self._clock.now().timestamp()
        known, due = self._due.get(request, ("", None))
        if known != uid:
            due = now + WAIT_S
        self._due[request] = (uid, due)
        if due is None:
            return None
        if now < due:
            return Result(requeue_after_s=due - now)
        if not await self._is_recorded(request.namespace, uid):
            self._recorder.normal(service, REASON, NOTE)
        self._due[request] = (uid, None)
        return None

    async def _is_recorded(self, namespace: str, uid: str) -> bool:
        """Return True if a previous process has already recorded the event."""
        chosen = ListOptions(field_selector=f"involvedObject.uid={uid},reason={REASON}", limit=1)
        return bool((await self._events.in_namespace(namespace).list(chosen)).items)


def _load_balancers(ref: Ref[Any]) -> Iterable[Request]:
    return (Request(ref.namespace, ref.name),) if b'"LoadBalancer"' in ref.raw else ()


def _is_pending(service: core_v1.Service) -> bool:
    spec = service.get("spec") or {}
    metadata = meta(service)
    return (
        spec.get("type") == "LoadBalancer"
        and not spec.get("loadBalancerClass")
        and not ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress")
        and metadata.deletion_timestamp is None
        and _CLEANUP not in metadata.finalizers
    )
