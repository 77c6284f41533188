"""CSI volumes, Pods and nodes for tests of the attach-detach controller, and an attacher that always succeeds."""

from collections.abc import Callable
from typing import Any

from sampan.component_base.resources import (
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    VOLUME_ATTACHMENTS,
)
from sampan.csi.names import attachment_name, unique_volume_name
from sampan.resource import Object, meta
from tests.controllers.cluster import Working

DRIVER = "disk.example.com"
UNIQUE = unique_volume_name(DRIVER, "h")


def attachment_on(node: str) -> str:
    """Return the name of the attachment of the volume to a node."""
    return attachment_name(DRIVER, "h", node)


async def bound_claim(c: Working, *modes: str, name: str = "c", volume: str = "v", driver: str = DRIVER) -> None:
    """Create a volume with the handle `h`, bound to a claim."""
    access: dict[str, Any] = {"accessModes": list(modes or ("ReadWriteOnce",)), "storageClassName": ""}
    claim = await c.create(
        PERSISTENT_VOLUME_CLAIMS,
        {
            "metadata": {"name": name},
            "spec": {**access, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": volume},
        },
    )
    spec = {
        **access,
        "capacity": {"storage": "1Gi"},
        "csi": {"driver": driver, "volumeHandle": "h"},
        "claimRef": {"namespace": "default", "name": name, "uid": meta(claim).uid},
        "persistentVolumeReclaimPolicy": "Retain",
    }
    await c.create(PERSISTENT_VOLUMES, {"metadata": {"name": volume}, "spec": spec})
    await c.patch_status(PERSISTENT_VOLUME_CLAIMS, name, {"phase": "Bound"})


async def pod_on(c: Working, node: str, name: str = "p", claim: str = "c") -> None:
    """Create a Pod with a claim, on a node unless it is empty."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": volumes, **({"nodeName": node} if node else {})}
    await c.create(PODS, {"metadata": {"name": name}, "spec": spec})


async def end_pod(c: Working, name: str = "p") -> None:
    """Make a Pod succeed."""
    await c.patch_status(PODS, name, {"phase": "Succeeded"})


async def node(c: Working, name: str, *, ready: bool = True, in_use: bool = False) -> None:
    """Create a node."""
    await c.create(NODES, {"metadata": {"name": name}})
    await node_status(c, name, ready=ready, in_use=in_use)


async def node_status(c: Working, name: str, *, ready: bool = True, in_use: bool = False) -> None:
    """Write the status of a node, as its kubelet does."""
    condition = {"type": "Ready", "status": "True" if ready else "Unknown"}
    status = {"conditions": [condition], "volumesInUse": [UNIQUE] if in_use else None}
    await c.patch_status(NODES, name, status)


async def attached(c: Working, on: str) -> Object:
    """Wait for the attachment to a node, and mark it attached, as the driver's attacher does."""
    await c.until(VOLUME_ATTACHMENTS, attachment_on(on), lambda _: True)
    await c.patch_status(VOLUME_ATTACHMENTS, attachment_on(on), {"attached": True})
    return await c.get(VOLUME_ATTACHMENTS, attachment_on(on))


def lists_volume(node: Object) -> bool:
    """Return True if the node may mount the volume."""
    return bool((node.get("status") or {}).get("volumesAttached") == [{"name": UNIQUE, "devicePath": ""}])


def lists_none(node: Object) -> bool:
    """Return True if the node may mount no volume."""
    return "volumesAttached" not in (node.get("status") or {})


def stays(found: Object | None) -> Callable[[Object], bool]:
    """Return a condition that holds for the same object."""
    uid = meta(found).uid
    return lambda obj: meta(obj).uid == uid and meta(obj).deletion_timestamp is None
