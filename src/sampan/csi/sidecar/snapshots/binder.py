"""`SnapshotBinder`: creates contents for VolumeSnapshots, binds them, and copies the state of contents to the
VolumeSnapshots.

It does for one driver what snapshot-controller does for a cluster.

Source: external-snapshotter pkg/common-controller/snapshot_controller.go.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final

from sampan.client import AlreadyExists, ApiError, Conflict, DeleteOptions, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from sampan.core.time import format_time
from sampan.csi.sidecar.claims import bytes_quantity, is_same_volume
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.snapshots.kinds import (
    BEING_DELETED,
    BOUND_FINALIZER,
    DEFAULT_CLASS,
    VOLUME_SNAPSHOT_CLASSES,
    VOLUME_SNAPSHOT_CONTENTS,
    VOLUME_SNAPSHOTS,
    content_name,
)
from sampan.kinds import core_v1
from sampan.operator.request import Request, Result, RetryLater
from sampan.resource import Object, meta

_NANOSECONDS: Final = 1_000_000_000


class CannotSnapshot(RetryLater):
    """A VolumeSnapshot cannot have a content now."""


class SnapshotBinder:
    """Reconciler of VolumeSnapshots."""

    def __init__(self, context: ControllerContext, driver: Driver) -> None:
        client = context.manager.client
        self._client = client.direct
        self._snapshots = client.resource(VOLUME_SNAPSHOTS, namespace="")
        self._contents = client.resource(VOLUME_SNAPSHOT_CONTENTS)
        self._recorder = context.recorder(f"{driver.name.lower()}/snapshot-controller")
        self._driver = driver

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one VolumeSnapshot. Raises `ApiError`, `TransportError`, `RetryLater`."""
        snapshot = await self._snapshots.find(request)
        if snapshot is None:
            return None
        try:
            content = await self._content_of(snapshot)
            if meta(snapshot).deletion_timestamp is not None:
                await self._release(snapshot, content)
            elif content is None:
                await self._request(snapshot)
            else:
                await self._bind(snapshot, content)
        except CannotSnapshot as error:
            self._recorder.warning(snapshot, "SnapshotContentCreationFailed", str(error))
            raise
        except (Conflict, NotFound) as error:
            raise RetryLater(str(error)) from error
        return None

    async def _content_of(self, snapshot: Object) -> Object | None:
        """Return the content of a VolumeSnapshot, if there is one of this driver."""
        given = (snapshot["spec"].get("source") or {}).get("volumeSnapshotContentName")
        content = await self._contents.find(Request("", given or content_name(snapshot)))
        if content is None or content["spec"].get("driver") != self._driver.name:
            return None
        reference = content["spec"].get("volumeSnapshotRef") or {}
        named = (reference.get("namespace"), reference.get("name")) == (meta(snapshot).namespace, meta(snapshot).name)
        return content if named and reference.get("uid") in (None, "", meta(snapshot).uid) else None

    async def _request(self, snapshot: Object) -> None:
        """Create the content of a VolumeSnapshot, if its class belongs to this driver."""
        claim_name = (snapshot["spec"].get("source") or {}).get("persistentVolumeClaimName")
        if not claim_name or (snapshot.get("status") or {}).get("boundVolumeSnapshotContentName"):
            return
        chosen = await self._class_of(snapshot)
        if chosen is None or chosen.get("driver") != self._driver.name:
            return
        volume = await self._volume_of(snapshot, claim_name)
        reference = {"apiVersion": VOLUME_SNAPSHOTS.api_version, "kind": "VolumeSnapshot", **_names(snapshot)}
        spec = {
            "driver": self._driver.name,
            "deletionPolicy": chosen["deletionPolicy"],
            "source": {"volumeHandle": volume["spec"]["csi"]["volumeHandle"]},
            "volumeSnapshotClassName": meta(chosen).name,
            "volumeSnapshotRef": reference,
            "sourceVolumeMode": volume["spec"].get("volumeMode") or "Filesystem",
        }
        content = {
            "apiVersion": VOLUME_SNAPSHOT_CONTENTS.api_version,
            "kind": VOLUME_SNAPSHOT_CONTENTS.kind,
            "metadata": {"name": content_name(snapshot)},
            "spec": spec,
        }
        try:
            made = await self._contents.create(content)
        except AlreadyExists:
            return
        note = f"Waiting for a snapshot {_key(snapshot)} to be created by the CSI driver."
        self._recorder.normal(snapshot, "CreatingSnapshot", note)
        await self._bind(snapshot, made)

    async def _class_of(self, snapshot: Object) -> Object | None:
        """Return the class of a VolumeSnapshot, or the driver's default class."""
        classes = self._client.resource(VOLUME_SNAPSHOT_CLASSES)
        name = snapshot["spec"].get("volumeSnapshotClassName")
        if name:
            try:
                return await classes.get(name)
            except NotFound as error:
                raise CannotSnapshot(str(error)) from error
        for each in await classes.list():
            if each.get("driver") == self._driver.name and meta(each).annotations.get(DEFAULT_CLASS) == "true":
                return each
        return None

    async def _volume_of(self, snapshot: Object, claim_name: str) -> core_v1.PersistentVolume:
        """Return the volume of the claim. Raises `CannotSnapshot`."""
        claims = self._client.resource(PERSISTENT_VOLUME_CLAIMS, namespace=meta(snapshot).namespace)
        try:
            claim = await claims.get(claim_name)
            if not claim["spec"].get("volumeName"):
                raise CannotSnapshot(f"the PVC {claim_name} is not yet bound to a PV")
            volume = await self._client.resource(PERSISTENT_VOLUMES).get(claim["spec"]["volumeName"])
        except ApiError as error:
            raise CannotSnapshot(f"failed to get the volume of {claim_name}: {error}") from error
        source = volume["spec"].get("csi")
        if source is None or source.get("driver") != self._driver.name or not is_same_volume(volume, claim):
            raise CannotSnapshot(f"the volume of the PVC {claim_name} is not one of the driver {self._driver.name}")
        return volume

    async def _bind(self, snapshot: Object, content: Object) -> None:
        """Write the binding, and copy the state of the content."""
        client = self._snapshots.in_namespace(meta(snapshot).namespace)
        if not content["spec"]["volumeSnapshotRef"].get("uid"):
            change = {"spec": {"volumeSnapshotRef": {"uid": meta(snapshot).uid}}}
            await self._contents.patch(meta(content).name, MergePatch(change))
        if BOUND_FINALIZER not in meta(snapshot).finalizers:
            finalizers = [*meta(snapshot).finalizers, BOUND_FINALIZER]
            metadata = {"resourceVersion": meta(snapshot).resource_version, "finalizers": finalizers}
            await client.patch(meta(snapshot).name, MergePatch({"metadata": metadata}))
        before, desired = snapshot.get("status") or {}, _status(content)
        changed = {key: value for key, value in desired.items() if before.get(key) != value}
        if not changed:
            return
        await client.status.patch(meta(snapshot).name, MergePatch({"status": changed}))
        if "creationTime" in changed:
            note = f"Snapshot {_key(snapshot)} was successfully created by the CSI driver."
            self._recorder.normal(snapshot, "SnapshotCreated", note)
        if changed.get("readyToUse"):
            self._recorder.normal(snapshot, "SnapshotReady", f"Snapshot {_key(snapshot)} is ready to use.")

    async def _release(self, snapshot: Object, content: Object | None) -> None:
        """Delete the content if its policy is Delete, and remove the finalizer of the VolumeSnapshot."""
        if BOUND_FINALIZER not in meta(snapshot).finalizers:
            return
        if content is not None and meta(content).deletion_timestamp is None:
            await self._contents.patch(
                meta(content).name, MergePatch({"metadata": {"annotations": {BEING_DELETED: "yes"}}})
            )
            if content["spec"].get("deletionPolicy") == "Delete":
                await self._contents.delete(meta(content).name, DeleteOptions(uid=meta(content).uid))
        elif content is None and await self._belongs_to_another(snapshot):
            return
        kept = [each for each in meta(snapshot).finalizers if each != BOUND_FINALIZER]
        metadata = {"resourceVersion": meta(snapshot).resource_version, "finalizers": kept or None}
        client = self._snapshots.in_namespace(meta(snapshot).namespace)
        await client.patch(meta(snapshot).name, MergePatch({"metadata": metadata}))

    async def _belongs_to_another(self, snapshot: Object) -> bool:
        """Return True if the sidecar of another driver must remove the finalizer of a VolumeSnapshot."""
        bound = (snapshot.get("status") or {}).get("boundVolumeSnapshotContentName")
        content = await self._contents.find(Request("", bound)) if bound else None
        if content is not None:
            return bool(content["spec"].get("driver") != self._driver.name)
        name = snapshot["spec"].get("volumeSnapshotClassName")
        try:
            chosen = await self._client.resource(VOLUME_SNAPSHOT_CLASSES).get(name) if name else None
        except NotFound:
            return False
        return chosen is not None and chosen.get("driver") != self._driver.name


def _status(content: Object) -> dict[str, Any]:
    """Return the status fields that are copied from a content to its VolumeSnapshot."""
    status = content.get("status") or {}
    found: dict[str, Any] = {
        "boundVolumeSnapshotContentName": meta(content).name,
        "readyToUse": bool(status.get("readyToUse")),
        "error": status.get("error"),
    }
    if status.get("creationTime"):
        created = dt.datetime.fromtimestamp(status["creationTime"] // _NANOSECONDS, dt.UTC)
        found["creationTime"] = format_time(created)
    if status.get("restoreSize") is not None:
        found["restoreSize"] = bytes_quantity(status["restoreSize"])
    return found


def _names(snapshot: Object) -> dict[str, str]:
    return {"namespace": meta(snapshot).namespace, "name": meta(snapshot).name, "uid": meta(snapshot).uid}


def _key(snapshot: Object) -> str:
    return f"{meta(snapshot).namespace}/{meta(snapshot).name}"
