"""`Resizer`: expands the volumes of claims that request more. The node then expands the file system if necessary.

Source: external-resizer pkg/controller/expand_and_recover.go, pkg/resizer/{csi,trivial}_resizer.go.
"""

from __future__ import annotations

from typing import Any, Final

import grpc

from sampan.client import Conflict, MergePatch, NotFound, merge_patch_between
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from sampan.core.json.values import same
from sampan.core.numbers.quantity import Quantity
from sampan.core.time import timestamp
from sampan.csi.capabilities import volume_capability
from sampan.csi.errors import UNCERTAIN, CsiError
from sampan.csi.sidecar.changes import relevant_changes
from sampan.csi.sidecar.claims import amount, bytes_quantity, is_same_volume
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.resizing import status as resize_status
from sampan.csi.sidecar.resizing.decision import (
    NODE_IN_PROGRESS,
    NODE_INFEASIBLE,
    NODE_PENDING,
    needs_expansion,
    next_size,
    sizes_of,
)
from sampan.csi.sidecar.secrets import secret_data
from sampan.csi.sidecar.settings import SidecarSettings
from sampan.kinds import core_v1
from sampan.operator.predicates import Predicate
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import meta

PRE_RESIZE: Final = "volume.alpha.kubernetes.io/pre-resize-capacity"
"""Annotation of a volume with the size of the claim until the node has expanded the file system."""
NOT_REQUIRED: Final = "volume.kubernetes.io/node-expansion-not-required"
_INFEASIBLE: Final = frozenset(
    {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.NOT_FOUND}
)


class Resizer:
    """Reconciler of the claims that are bound to volumes of a driver."""

    def __init__(self, context: ControllerContext, driver: Driver, settings: SidecarSettings) -> None:
        client = context.manager.client
        self._client = client.direct
        self._claims = client.resource(PERSISTENT_VOLUME_CLAIMS, namespace="")
        self._volumes = client.resource(PERSISTENT_VOLUMES)
        self._recorder = context.recorder(f"{driver.name.lower()}/external-resizer")
        self._clock = context.clock
        self._driver = driver
        self._settings = settings
        self._by_controller = "EXPAND_VOLUME" in driver.controller
        self._refused: set[str] = set()
        """UIDs of claims whose last expansion has failed permanently."""

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one claim. Raises `ApiError`, `TransportError`, `RetryLater`."""
        claim = await self._claims.find(request)
        name = claim["spec"].get("volumeName") if claim is not None else None
        volume = await self._volumes.find(Request("", name)) if name else None
        if claim is None:
            return None
        if volume is None:
            if needs_expansion(claim):
                raise RetryLater(f'PV "{name}" bound to pvc "{request}" not found')
            return None
        source = volume["spec"].get("csi")
        if source is None or source.get("driver") != self._driver.name or not is_same_volume(volume, claim):
            return None
        try:
            await self._forget_old_size(claim, volume)
            if needs_expansion(claim):
                return await self._expand(claim, volume)
        except (Conflict, NotFound) as error:
            raise RetryLater(str(error)) from error
        self._refused.discard(meta(claim).uid)
        return None

    async def _forget_old_size(self, claim: core_v1.PersistentVolumeClaim, volume: core_v1.PersistentVolume) -> None:
        done = amount((claim.get("status") or {}).get("capacity")) >= amount(volume["spec"].get("capacity"))
        if done and PRE_RESIZE in meta(volume).annotations:
            await self._volumes.patch(meta(volume).name, MergePatch({"metadata": {"annotations": {PRE_RESIZE: None}}}))

    async def _expand(self, claim: core_v1.PersistentVolumeClaim, volume: core_v1.PersistentVolume) -> Result | None:
        sizes, uid = sizes_of(claim, volume), meta(claim).uid
        size = next_size(sizes, failed=uid in self._refused, by_controller=self._by_controller)
        if size is None:
            return None
        now = timestamp(self._clock)
        claim = await self._write(claim, resize_status.in_progress(claim, str(size), now), {NOT_REQUIRED: None})
        note = f"External resizer is resizing volume {meta(volume).name}"
        self._recorder.normal(claim, "Resizing", note)
        try:
            reached, on_node = await self._call(volume, size)
        except CsiError as error:
            return await self._failed(claim, volume, error)
        self._refused.discard(uid)
        await self._write_size(claim, volume, reached, on_node=on_node)
        if on_node:
            await self._write(claim, resize_status.node_pending(claim, now), {NOT_REQUIRED: None})
            self._recorder.normal(claim, "FileSystemResizeRequired", "Require file system resize of volume on node")
        else:
            await self._write(claim, resize_status.finished(claim, reached), {NOT_REQUIRED: "true"})
            self._recorder.normal(claim, "VolumeResizeSuccessful", "Resize volume succeeded")
        return None

    async def _call(self, volume: core_v1.PersistentVolume, size: Quantity) -> tuple[str, bool]:
        """Expand a volume. Return its new size, and whether a node has to expand the file system."""
        if not self._by_controller:
            return str(size), True
        spec = volume["spec"]
        source = spec["csi"]
        capability = volume_capability(
            spec,
            spec.get("accessModes") or (),
            fs_type=source.get("fsType") or "",
            single_node_multi_writer=self._driver.writes_on_one_node,
        )
        response = await self._driver.call(
            "ControllerExpandVolume",
            volume_id=source["volumeHandle"],
            capacity_range={"required_bytes": size.value()},
            secrets=await secret_data(self._client, source.get("controllerExpandSecretRef")),
            volume_capability=capability,
        )
        return bytes_quantity(response.capacity_bytes), response.node_expansion_required

    async def _failed(
        self, claim: core_v1.PersistentVolumeClaim, volume: core_v1.PersistentVolume, error: CsiError
    ) -> Result:
        """Report a failed expansion.

        Return the long delay after a permanent failure. Raise `RetryLater` for other failures.
        """
        text = f'resize volume "{meta(volume).name}" by resizer "{self._driver.name}" failed: {error}'
        self._recorder.warning(claim, "VolumeResizeFailed", text)
        if error.code in UNCERTAIN:
            self._refused.discard(meta(claim).uid)
            raise RetryLater(text) from error
        self._refused.add(meta(claim).uid)
        infeasible = error.code in _INFEASIBLE
        status = resize_status.failed(claim, str(error), timestamp(self._clock), infeasible=infeasible)
        await self._write(claim, status, {})
        if infeasible:
            return Result(self._settings.retry_interval_max_s)
        raise RetryLater(text) from error

    async def _write_size(
        self, claim: core_v1.PersistentVolumeClaim, volume: core_v1.PersistentVolume, size: str, *, on_node: bool
    ) -> None:
        change: dict[str, Any] = {"spec": {"capacity": {"storage": size}}}
        if on_node and PRE_RESIZE not in meta(volume).annotations:
            before = ((claim.get("status") or {}).get("capacity") or {}).get("storage", "0")
            change["metadata"] = {"annotations": {PRE_RESIZE: before}}
        await self._volumes.patch(meta(volume).name, MergePatch(change))

    async def _write(
        self,
        claim: core_v1.PersistentVolumeClaim,
        status: core_v1.PersistentVolumeClaimStatus,
        annotations: dict[str, str | None],
    ) -> core_v1.PersistentVolumeClaim:
        """Write a status and the annotations that belong to it. Return the claim. Raises `Conflict`."""
        desired = {**meta(claim).annotations, **annotations}
        before = {"metadata": _version(claim) | {"annotations": meta(claim).annotations}, "status": claim.get("status")}
        after = {
            "metadata": _version(claim)
            | {"annotations": {key: value for key, value in desired.items() if value is not None}},
            "status": status,
        }
        if same(before, after):
            return claim
        client = self._claims.in_namespace(meta(claim).namespace)
        return await client.status.patch(meta(claim).name, merge_patch_between(before, after, optimistic_lock=True))


def _version(claim: core_v1.PersistentVolumeClaim) -> dict[str, Any]:
    return {"resourceVersion": meta(claim).resource_version}


def size_changed() -> Predicate[Any]:
    """Return a predicate that drops updates which do not concern the size of a claim, such as a recorded error."""
    return relevant_changes(_relevant)


def _relevant(claim: core_v1.PersistentVolumeClaim) -> tuple[Any, ...]:
    status = claim.get("status") or {}
    state = (status.get("allocatedResourceStatuses") or {}).get("storage")
    on_node = state if state in (NODE_PENDING, NODE_IN_PROGRESS, NODE_INFEASIBLE) else ""
    return claim["metadata"]["uid"], claim["spec"], status.get("phase"), status.get("capacity"), on_node
