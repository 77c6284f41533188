"""The hints at Ingresses: one explains in an event why an Ingress has no effect.

An Ingress needs a controller, which a new cluster does not have, and nothing in Kubernetes reports that. This one
serves no Ingress. It records one event for an Ingress if after `WAIT_S` its class does not exist, and no controller has
published an address.
"""

from __future__ import annotations

from typing import Any, Final

from sampan.client import ListOptions
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import EVENTS, INGRESS_CLASSES, INGRESSES
from sampan.controllers.gateway_hints import GatewayHints
from sampan.core.time import parse_time
from sampan.kinds import networking_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "ingress-hint-controller"
REASON: Final = "NoIngressClass"
WAIT_S: Final = 30.0
"""Time in which the class may be created, and a controller may publish an address."""
_ANNOTATION: Final = "kubernetes.io/ingress.class"
"""Older form of `spec.ingressClassName`."""
_DEFAULT: Final = "ingressclass.kubernetes.io/is-default-class"
_REMEDY: Final = "install an ingress controller, or name the class of an installed one (kubectl get ingressclasses)"


def set_up(context: ControllerContext) -> None:
    """Register the controller, and the one for Gateways, with the manager."""
    Builder(context.manager).named(NAME).for_(INGRESSES).complete(IngressHints(context))
    context.manager.add(GatewayHints(context))


class IngressHints:
    """Records the event for Ingresses without a class."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._ingresses = client.resource(INGRESSES, namespace="")
        self._classes = client.direct.resource(INGRESS_CLASSES)
        self._events = client.direct.resource(EVENTS, namespace="")
        self._recorder = context.recorder("ingress-controller")

    async def reconcile(self, request: Request) -> Result | None:
        """Record the event of one Ingress when it is due. Raises `ApiError`, `TransportError`."""
        ingress = await self._ingresses.find(request)
        if ingress is None or meta(ingress).deletion_timestamp is not None or _has_address(ingress):
            return None
        created = parse_time(ingress["metadata"]["creationTimestamp"])
        left_s = WAIT_S - (self._clock.now() - created).total_seconds()
        if left_s > 0:
            return Result(requeue_after_s=left_s)
        note = _fault(ingress, (await self._classes.list()).items)
        if note and not await self._is_recorded(request.namespace, meta(ingress).uid):
            self._recorder.warning(ingress, REASON, f"{note}, so no controller serves this Ingress; {_REMEDY}")
        return None

    async def _is_recorded(self, namespace: str, uid: str) -> bool:
        """Return True if the event exists, also from a previous process."""
        chosen = ListOptions(field_selector=f"involvedObject.uid={uid},reason={REASON}", limit=1)
        return bool((await self._events.in_namespace(namespace).list(chosen)).items)


def _has_address(ingress: networking_v1.Ingress) -> bool:
    return bool(((ingress.get("status") or {}).get("loadBalancer") or {}).get("ingress"))


def _fault(ingress: networking_v1.Ingress, classes: Any) -> str:
    """Return why no controller can serve the Ingress; empty if its class exists."""
    name = (ingress.get("spec") or {}).get("ingressClassName") or meta(ingress).annotations.get(_ANNOTATION)
    if name:
        is_known = any(meta(each).name == name for each in classes)
        return "" if is_known else f'the IngressClass "{name}" does not exist'
    has_default = any(meta(each).annotations.get(_DEFAULT) == "true" for each in classes)
    return "" if has_default else "the Ingress names no class, and no IngressClass is the default"
