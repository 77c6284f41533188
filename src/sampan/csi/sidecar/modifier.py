"""`Modifier`: gives the volumes of claims the attributes of their VolumeAttributesClass.

If the result of a modification is unknown, it is repeated until the result is known. Only then, a modification to
another class starts.

Source: external-resizer pkg/modifycontroller/{controller,modify_volume}.go, pkg/modifier/csi_modifier.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import grpc

from sampan.client import Conflict, MergePatch, NotFound, merge_patch_between
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, VOLUME_ATTRIBUTES_CLASSES
from sampan.core.json.values import same
from sampan.core.time import timestamp
from sampan.csi.errors import UNCERTAIN, CsiError
from sampan.csi.sidecar import modify_status
from sampan.csi.sidecar.changes import relevant_changes
from sampan.csi.sidecar.claims import is_same_volume
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.provisioning.created_volume import MODIFY_SECRET
from sampan.csi.sidecar.secrets import PREFIX, secret_data
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.informer.ref import Ref
from sampan.kinds import core_v1, storage_v1
from sampan.operator.predicates import Predicate
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta


class Modifier:
    """Reconciler of the claims that are bound to volumes of a driver."""

    def __init__(self, context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
        client = context.manager.client
        self._client = client.direct
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._classes = client.resource(VOLUME_ATTRIBUTES_CLASSES)
        self._recorder = context.recorder(f"{driver.name.lower()}/external-resizer")
        self._clock = context.clock
        self._driver = driver
        self._settings = settings
        self._refused: set[str] = set()
        """UIDs of claims whose last modification has failed permanently."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one claim. Raises `ApiError`, `TransportError`, `RetryLater`."""
        claim = await self._claims.find(request)
        name = claim["spec"].get("volumeName") if claim is not None else None
        if claim is None or not name or (claim.get("status") or {}).get("phase") != "Bound":
            return None
        desired, current, state = _state(claim)
        if not state and desired == current:
            return None
        volume = await self._volumes.find(Request("", name))
        if volume is None:
            raise RetryLater(f'PV "{name}" bound to pvc "{request}" not found')
        source = volume["spec"].get("csi")
        if source is None or source.get("driver") != self._driver.name or not is_same_volume(volume, claim):
            return None
        try:
            return await self._modify(claim, volume)
        except (Conflict, NotFound) as error:
            raise RetryLater(str(error)) from error

    async def _modify(self, claim: core_v1.PersistentVolumeClaim, volume: core_v1.PersistentVolume) -> Result | None:
        desired, _, state = _state(claim)
        busy = state is not None and state.get("status") == modify_status.IN_PROGRESS
        if not desired and not busy:
            await self._cancel(claim)
            return None
        if state is not None and busy and (not desired or meta(claim).uid not in self._refused):
            return await self._continue(claim, volume, state.get("targetVolumeAttributesClassName") or "")
        found = await self._class(claim, desired)
        if found is None:
            # The class is watched: its creation leads to the next attempt.
            await self._write(claim, modify_status.pending(claim))
            return None
        claim = await self._write(claim, modify_status.in_progress(claim, desired, timestamp(self._clock)))
        note = f"external resizer is modifying volume {meta(claim).name} with vac {desired}"
        self._recorder.normal(claim, "VolumeModify", note)
        return await self._call(claim, volume, found)

    async def _continue(
        self, claim: core_v1.PersistentVolumeClaim, volume: core_v1.PersistentVolume, target: str
    ) -> Result | None:
        found = await self._class(claim, target)
        if found is None:
            raise RetryLater(f"VAC {target} does not exist")
        return await self._call(claim, volume, found)

    async def _class(self, claim: core_v1.PersistentVolumeClaim, name: str) -> storage_v1.VolumeAttributesClass | None:
        found = await self._classes.find(Request("", name))
        if found is None:
            self._recorder.warning(claim, "VolumeModifyFailed", f'VAC "{name}" does not exist.')
        return found

    async def _cancel(self, claim: core_v1.PersistentVolumeClaim) -> None:
        if modify_status.is_modifying(claim):
            self._recorder.normal(claim, "VolumeModifyCanceled", "Cancelled modify.")
            await self._write(claim, modify_status.cancelled(claim))

    async def _call(
        self,
        claim: core_v1.PersistentVolumeClaim,
        volume: core_v1.PersistentVolume,
        attributes: storage_v1.VolumeAttributesClass,
    ) -> Result | None:
        target, name = meta(attributes).name, meta(volume).name
        try:
            await self._driver.call(
                "ControllerModifyVolume",
                volume_id=volume["spec"]["csi"]["volumeHandle"],
                secrets=await secret_data(self._client, _secret(volume)),
                mutable_parameters={**(attributes.get("parameters") or {}), **self._metadata(claim, name)},
            )
        except CsiError as error:
            return await self._failed(claim, target, error)
        self._refused.discard(meta(claim).uid)
        # The volume comes first, so that the claim never names a class that its volume lacks.
        await self._volumes.patch(name, MergePatch({"spec": {"volumeAttributesClassName": target}}))
        await self._write(claim, modify_status.completed(claim, target))
        note = f"external resizer modified volume {meta(claim).name} with vac {target} successfully"
        self._recorder.normal(claim, "VolumeModifySuccessful", note)
        return None

    def _metadata(self, claim: core_v1.PersistentVolumeClaim, volume_name: str) -> dict[str, str]:
        if not self._settings.extra_modify_metadata:
            return {}
        return {
            f"{PREFIX}pvc/name": meta(claim).name,
            f"{PREFIX}pvc/namespace": meta(claim).namespace,
            f"{PREFIX}pv/name": volume_name,
        }

    async def _failed(self, claim: core_v1.PersistentVolumeClaim, target: str, error: CsiError) -> Result:
        """Report a failed call.

        Return the long delay after a permanent failure. Raise `RetryLater` for other failures.
        """
        final = error.code not in UNCERTAIN
        infeasible = error.code is grpc.StatusCode.INVALID_ARGUMENT
        (self._refused.add if final else self._refused.discard)(meta(claim).uid)
        now = timestamp(self._clock)
        status = modify_status.failed(claim, target, error, now, final=final, infeasible=infeasible)
        await self._write(claim, status)
        note = str(error) if final else f"{error}. Still modifying to VAC {target}"
        self._recorder.warning(claim, "VolumeModifyFailed", note)
        if infeasible:
            return Result(self._settings.retry_interval_max_s)
        raise RetryLater(note) from error

    async def _write(
        self, claim: core_v1.PersistentVolumeClaim, status: core_v1.PersistentVolumeClaimStatus
    ) -> core_v1.PersistentVolumeClaim:
        """Write a status. Return the claim. Raises `Conflict`."""
        metadata = {"resourceVersion": meta(claim).resource_version}
        before, after = {"metadata": metadata, "status": claim.get("status")}, {"metadata": metadata, "status": status}
        if same(before, after):
            return claim
        client = self._claims.in_namespace(meta(claim).namespace)
        return await client.status.patch(meta(claim).name, merge_patch_between(before, after, optimistic_lock=True))


def _state(claim: core_v1.PersistentVolumeClaim) -> tuple[str, str, core_v1.ModifyVolumeStatus | None]:
    """Return the desired class, the current class, and the state of the modification; each is empty
    if there is none.
    """
    status = claim.get("status") or {}
    desired = claim["spec"].get("volumeAttributesClassName") or ""
    return desired, status.get("currentVolumeAttributesClassName") or "", status.get("modifyVolumeStatus")


def _secret(volume: core_v1.PersistentVolume) -> core_v1.SecretReference | None:
    annotations = meta(volume).annotations
    name, namespace = annotations.get(f"{MODIFY_SECRET}-name"), annotations.get(f"{MODIFY_SECRET}-namespace")
    if name and namespace:
        return {"name": name, "namespace": namespace}
    return volume["spec"]["csi"].get("controllerExpandSecretRef")


def class_changed() -> Predicate[Any]:
    """Return a predicate that drops updates which do not concern the class of a claim, such as a recorded error."""
    return relevant_changes(_relevant)


def _relevant(claim: core_v1.PersistentVolumeClaim) -> tuple[Any, ...]:
    desired, current, _ = _state(claim)
    return claim["metadata"]["uid"], desired, current, (claim.get("status") or {}).get("phase")


def claims_of_class(context: ControllerContext) -> Callable[[Ref[Any]], Iterable[Request]]:
    """Return a map from classes to the claims that name them and do not have their attributes yet."""
    claims = context.informer(PERSISTENT_VOLUME_CLAIMS).indexer

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        naming = [each for each in claims.refs() if b'"volumeAttributesClassName"' in each.raw]
        states = [(each, _state(each.decode())) for each in naming]
        return [Request.of_key(each.key) for each, state in states if state[0] == ref.name and state[1] != ref.name]

    return requests
