"""Content sources: the snapshot or the volume from which a new volume is made.

Source: external-provisioner pkg/controller/controller.go `getPVCSource`, `getSnapshotSource`.
"""

from __future__ import annotations

from typing import Any

from sampan.client import Client
from sampan.component_base.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from sampan.csi.sidecar.claims import amount, is_same_volume, requested
from sampan.csi.sidecar.driver import Driver
from sampan.csi.sidecar.snapshots.kinds import GROUP, VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS
from sampan.kinds import core_v1
from sampan.resource import meta


class InvalidSource(ValueError):
    """A claim names a source from which this driver cannot make a volume now."""


class ForeignSource(Exception):
    """A volume populator, not the provisioner, creates volumes from sources of this kind."""


def source_of(
    claim: core_v1.PersistentVolumeClaim,
) -> core_v1.TypedObjectReference | core_v1.TypedLocalObjectReference | None:
    """Return the reference to the source of a claim, or None. Raises `InvalidSource`, `ForeignSource`."""
    reference = claim["spec"].get("dataSourceRef")
    found = reference or claim["spec"].get("dataSource")
    if found is None:
        return None
    if reference and reference.get("namespace", meta(claim).namespace) != meta(claim).namespace:
        raise InvalidSource("a source in another namespace is not supported")
    group, kind = found.get("apiGroup") or "", found.get("kind")
    if (group, kind) not in (("", "PersistentVolumeClaim"), (GROUP, "VolumeSnapshot")):
        raise ForeignSource(f"data source ({kind}) is not handled by the provisioner")
    return found


async def content_source(client: Client, driver: Driver, claim: core_v1.PersistentVolumeClaim) -> dict[str, Any] | None:
    """Return the VolumeContentSource of a claim. Raises `InvalidSource`, `ForeignSource`, `ApiError`."""
    source = source_of(claim)
    if source is None:
        return None
    if source["kind"] == "VolumeSnapshot":
        _check_capability(driver, "CREATE_DELETE_SNAPSHOT", "snapshot restore")
        return {"snapshot": {"snapshot_id": await _snapshot(client, driver, claim, source["name"])}}
    _check_capability(driver, "CLONE_VOLUME", "clone operations")
    return {"volume": {"volume_id": await _volume(client, driver, claim, source["name"])}}


def _check_capability(driver: Driver, capability: str, what: str) -> None:
    if capability not in driver.controller:
        text = f"CSI driver does not support {what}: controller {capability} capability is not reported"
        raise InvalidSource(text)


async def _volume(client: Client, driver: Driver, claim: core_v1.PersistentVolumeClaim, name: str) -> str:
    """Return the handle of the volume to clone, from its claim."""
    source = await client.resource(PERSISTENT_VOLUME_CLAIMS, namespace=meta(claim).namespace).get(name)
    if (source.get("status") or {}).get("phase") != "Bound" or not source["spec"].get("volumeName"):
        raise InvalidSource(f"the PVC DataSource {name} must have a status of Bound")
    if meta(source).deletion_timestamp is not None:
        raise InvalidSource(f"the PVC DataSource {name} is currently being deleted")
    if requested(claim) < requested(source):
        raise InvalidSource(
            "error, new PVC request must be greater than or equal in size to the specified PVC data source, "
            f"requested {requested(claim).value()} but source is {requested(source).value()}"
        )
    volume = await client.resource(PERSISTENT_VOLUMES).get(source["spec"]["volumeName"])
    found = volume["spec"].get("csi")
    if found is None or found.get("driver") != driver.name or not is_same_volume(volume, source):
        raise InvalidSource("claim in dataSource not bound or invalid")
    if _mode(volume) != _mode(claim):
        raise InvalidSource(
            "the source PVC and destination PVCs must have the same volume mode for cloning.  "
            f"Source is {_mode(volume)}, but new PVC requested {_mode(claim)}"
        )
    return str(found["volumeHandle"])


async def _snapshot(client: Client, driver: Driver, claim: core_v1.PersistentVolumeClaim, name: str) -> str:
    """Return the handle of the snapshot to restore."""
    snapshot = await client.resource(VOLUME_SNAPSHOTS, namespace=meta(claim).namespace).get(name)
    if meta(snapshot).deletion_timestamp is not None:
        raise InvalidSource(f"snapshot {name} is being deleted")
    status = snapshot.get("status") or {}
    bound = status.get("boundVolumeSnapshotContentName")
    if not bound:
        raise InvalidSource(f"snapshot {name} not bound")
    content = await client.resource(VOLUME_SNAPSHOT_CONTENTS).get(bound)
    if (content["spec"].get("volumeSnapshotRef") or {}).get("uid") != meta(snapshot).uid:
        raise InvalidSource(f"snapshotcontent {bound} for snapshot {name} is bound to a different snapshot")
    if content["spec"].get("driver") != driver.name:
        raise InvalidSource(f"snapshotcontent {bound} for snapshot {name} is not handled by CSI driver {driver.name}")
    if not status.get("readyToUse"):
        raise InvalidSource(f"snapshot {name} is not Ready")
    size = amount({"storage": status.get("restoreSize")})
    if requested(claim) < size:
        raise InvalidSource(
            f"requested volume size {requested(claim).value()} is less than the size {size.value()} "
            f"for the source snapshot {name}"
        )
    handle = (content.get("status") or {}).get("snapshotHandle")
    if not handle:
        raise InvalidSource(f"snapshot handle {name} is not available")
    return str(handle)


def _mode(obj: core_v1.PersistentVolume | core_v1.PersistentVolumeClaim) -> str:
    return obj["spec"].get("volumeMode") or "Filesystem"
