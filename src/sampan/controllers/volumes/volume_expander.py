"""The expander of PersistentVolumes: reports that a claim waits for the resizer of its driver.

Only drivers can expand volumes, so the controller does nothing else.

Source: kube-controller-manager pkg/controller/volume/expand/expand_controller.go (1.36).
"""

from __future__ import annotations

from typing import Any, Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from sampan.core.numbers.quantity import Quantity, canonical, parse
from sampan.informer.ref import Ref
from sampan.kinds import core_v1
from sampan.operator.builder import Builder
from sampan.operator.predicates import PredicateFuncs
from sampan.operator.request import Request, Result
from sampan.resource import meta

NAME: Final = "persistentvolume-expander-controller"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    (
        Builder(context.manager)
        .named(NAME)
        .for_(PERSISTENT_VOLUME_CLAIMS, predicates=[PredicateFuncs(lambda _: False, _grows)])
        .complete(VolumeExpander(context))
    )


class VolumeExpander:
    """Records events about claims whose requested size has grown."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._volumes = client.direct.resource(PERSISTENT_VOLUMES)
        self._recorder = context.recorder("volume_expand")

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one claim. Raises `ApiError`, `TransportError`."""
        claim = await self._claims.find(request)
        if claim is None or (claim.get("status") or {}).get("phase") != "Bound":
            return None
        if _requested(claim) <= _size((claim.get("status") or {}).get("capacity")):
            return None
        volume = await self._volumes.get(claim["spec"]["volumeName"])
        if (volume["spec"].get("claimRef") or {}).get("uid") == meta(claim).uid:
            self._recorder.normal(claim, "ExternalExpanding", "waiting for an external controller to expand this PVC")
        return None


def _grows(old: Ref[Any], new: Ref[Any]) -> bool:
    if old.resource_version == new.resource_version or b'"volumeName"' not in new.raw:
        return False
    return _requested(new.decode()) > _requested(old.decode())


def _requested(claim: core_v1.PersistentVolumeClaim) -> Quantity:
    return _size((claim["spec"].get("resources") or {}).get("requests"))


def _size(resources: Any) -> Quantity:
    text = (resources or {}).get("storage")
    return Quantity(0) if text is None else parse(canonical(text))
