"""The hints at Gateways: one explains in an event why a Gateway has no effect.

The Gateway API is not part of Kubernetes: its kinds exist once their CustomResourceDefinitions are installed, with no
controller. So Gateways are listed periodically; without the definitions the list is one request that finds nothing.
A Gateway gets one event if after `WAIT_S` no controller has accepted its class.
"""

import asyncio
import logging
from typing import Any, Final

from sampan.client import ApiError, ListOptions, NotFound, TransportError
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import EVENTS
from sampan.core.gvk import GroupVersionResource
from sampan.core.time import parse_time
from sampan.resource import Object, ResourceInfo, meta

REASON: Final = "NoGatewayClass"
WAIT_S: Final = 30.0
"""Time in which a controller may accept the class, and the period of the check."""
GROUP: Final = "gateway.networking.k8s.io"
GATEWAYS: Final = ResourceInfo(GroupVersionResource(GROUP, "v1", "gateways"), "Gateway", namespaced=True)
GATEWAY_CLASSES: Final = ResourceInfo(
    GroupVersionResource(GROUP, "v1", "gatewayclasses"), "GatewayClass", namespaced=False
)
_REMEDY: Final = (
    "install a controller of the Gateway API, or name the class of an installed one (kubectl get gatewayclasses)"
)
_log = logging.getLogger("sampan.controllers")


class GatewayHints:
    """Records the event for Gateways that no controller serves."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client.direct
        self._clock = context.clock
        self._gateways = client.resource(GATEWAYS, namespace="")
        self._classes = client.resource(GATEWAY_CLASSES)
        self._events = client.resource(EVENTS, namespace="")
        self._recorder = context.recorder("gateway-controller")
        self._checked: set[str] = set()
        """UIDs of Gateways with an event."""

    def __str__(self) -> str:
        return "hints at Gateways"

    async def run(self) -> None:
        """Check all Gateways periodically until cancelled."""
        while True:
            try:
                await self.check()
            except (ApiError, TransportError) as error:
                _log.warning("cannot check the classes of Gateways, retrying: %s", error)
            await asyncio.sleep(WAIT_S)

    async def check(self) -> None:
        """Record the events that are due. Raises `ApiError`, `TransportError`."""
        try:
            gateways = [each for each in (await self._gateways.list()).items if self._is_due(each)]
            classes = (await self._classes.list()).items if gateways else ()
        except NotFound:
            return  # The Gateway API is not installed.
        for gateway in gateways:
            note = _fault(gateway, classes)
            if note:
                self._checked.add(meta(gateway).uid)
                if not await self._is_recorded(meta(gateway).namespace, meta(gateway).uid):
                    text = f"{note}, so no controller serves this Gateway; {_REMEDY}"
                    self._recorder.warning(gateway, REASON, text)

    def _is_due(self, gateway: Object) -> bool:
        created = parse_time(gateway["metadata"]["creationTimestamp"])
        return (
            (self._clock.now() - created).total_seconds() >= WAIT_S
            and meta(gateway).deletion_timestamp is None
            and meta(gateway).uid not in self._checked
            and not _is_true(gateway, "Accepted", "Programmed")
        )

    async def _is_recorded(self, namespace: str, uid: str) -> bool:
        """Return True if the event exists, also from a previous process."""
        chosen = ListOptions(field_selector=f"involvedObject.uid={uid},reason={REASON}", limit=1)
        return bool((await self._events.in_namespace(namespace).list(chosen)).items)


def _fault(gateway: Object, classes: Any) -> str:
    """Return why no controller serves the Gateway; empty if one has accepted its class."""
    name = (gateway.get("spec") or {}).get("gatewayClassName") or ""
    found = next((each for each in classes if meta(each).name == name), None)
    if found is None:
        return f'the GatewayClass "{name}" does not exist'
    return "" if _is_true(found, "Accepted") else f'no controller has accepted the GatewayClass "{name}"'


def _is_true(obj: Object, *types: str) -> bool:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return any(each.get("type") in types and each.get("status") == "True" for each in conditions)
