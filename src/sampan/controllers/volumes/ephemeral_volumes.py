"""The controller of ephemeral volumes: creates a claim from each volume's template. The claim is deleted with its Pod.

Source: kube-controller-manager pkg/controller/volume/ephemeral/controller.go (1.36).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sampan.client import ApiError, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from sampan.component_base.views import POD_VIEW
from sampan.informer.ref import Ref
from sampan.kinds import core_v1, meta_v1
from sampan.operator.builder import Builder
from sampan.operator.handlers import for_owner
from sampan.operator.owners.references import set_controller_reference
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta

NAME: Final = "ephemeral-volume-controller"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    (
        Builder(context.manager)
        .named(NAME)
        .watches(POD_VIEW, _with_ephemeral_volumes)
        .watches(PERSISTENT_VOLUME_CLAIMS, for_owner(PODS, only_controller=True))
        .complete(EphemeralVolumes(context))
    )


class ForeignClaim(RetryLater):
    """A claim has the name that a Pod's volume needs, but the Pod does not own it."""


class EphemeralVolumes:
    """Creates the claims. A claim with another owner is left unchanged, and its Pod has to wait."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._pods = client.direct.resource(PODS, namespace="")
        self._recorder = context.recorder("ephemeral_volume")

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one Pod. Raises `ApiError`, `TransportError`, `ForeignClaim`."""
        try:
            pod = await self._pods.in_namespace(request.namespace).get(request.name)
        except NotFound:
            return None
        if meta(pod).deletion_timestamp is not None:
            return None
        for volume in pod["spec"].get("volumes") or ():
            if volume.get("ephemeral") is None:
                continue
            try:
                await self._ensure(pod, volume)
            except (ApiError, ForeignClaim) as error:
                self._recorder.warning(pod, "FailedBinding", f"ephemeral volume {volume['name']}: {error}")
                raise
        return None

    async def _ensure(self, pod: core_v1.Pod, volume: core_v1.Volume) -> None:
        namespace, name = meta(pod).namespace, f"{meta(pod).name}-{volume['name']}"
        present = await self._claims.find(Request(namespace, name))
        if present is None:
            await self._claims.in_namespace(namespace).create(_claim(pod, name, volume))
        elif not any(owner.controller and owner.uid == meta(pod).uid for owner in meta(present).owner_references):
            text = f"PVC {namespace}/{name} was not created for pod {namespace}/{meta(pod).name} (pod is not owner)"
            raise ForeignClaim(text)


def _claim(pod: core_v1.Pod, name: str, volume: core_v1.Volume) -> core_v1.PersistentVolumeClaim:
    template = volume["ephemeral"].get("volumeClaimTemplate")
    given = (template.get("metadata") if template else None) or {}
    metadata: meta_v1.ObjectMeta = {"name": name, "namespace": meta(pod).namespace}
    if given.get("annotations"):
        metadata["annotations"] = dict(given["annotations"])
    if given.get("labels"):
        metadata["labels"] = dict(given["labels"])
    claim: core_v1.PersistentVolumeClaim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": (template.get("spec") if template else None) or {},
    }
    set_controller_reference(pod, claim)
    return claim


def _with_ephemeral_volumes(ref: Ref[Any]) -> Iterable[Request]:
    return (Request(ref.namespace, ref.name),) if b'"ephemeral"' in ref.raw else ()
