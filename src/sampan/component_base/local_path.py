"""Volumes that are directories of a node: names that the control loop and the node share, and what a volume means.

The control loop creates a PersistentVolume of the driver `local-path.sampan.dev`. It has no path: the node derives the
directory from the UID of the volume, which no client can choose. When a volume is to be deleted, the loop writes its
name in an annotation of the Node. The node reads the volume, verifies it, deletes the directory, and writes the UID in
another annotation; the loop then removes the finalizer. A node that has joined can read its own Node and such volumes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Final

from sampan.core.numbers.quantity import canonical, parse
from sampan.kinds import core_v1
from sampan.resource import meta

PROVISIONER: Final = "sampan.dev/local-path"
DRIVER: Final = "local-path.sampan.dev"
"""Name of the driver in the volumes. The node has it built in: no CSI driver registers with this name."""
CLASS: Final = "local-path"
"""Name of the StorageClass that Sampan creates."""
FINALIZER: Final = "sampan.dev/local-path"
"""Finalizer of volumes, until their directories are deleted."""
NODE: Final = "sampan.dev/node"
"""Attribute of a volume: name of its Node. A client cannot change it."""
TO_DELETE: Final = "sampan.dev/volumes-to-delete"
"""Annotation of a Node: a JSON map of UIDs by names of volumes, written by the control loop."""
DELETED: Final = "sampan.dev/deleted-volumes"
"""Annotation of a Node: a JSON list of UIDs whose directories do not exist any more, written by the node."""
TO_DELETE_MAX: Final = 100
"""Volumes in the annotation; further ones wait. It bounds the size of the Node."""
PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
PROTECTION: Final = "kubernetes.io/pv-protection"
"""Finalizer of volumes that are bound."""


def node_of(volume: core_v1.PersistentVolume) -> str:
    """Return the name of the node that has the directory of a volume; empty for any other volume.

    A volume that the control loop did not create counts as any other.
    """
    source = (volume.get("spec") or {}).get("csi")
    if source is None or source.get("driver") != DRIVER or meta(volume).annotations.get(PROVISIONED_BY) != PROVISIONER:
        return ""
    node = (source.get("volumeAttributes") or {}).get(NODE)
    return node if isinstance(node, str) else ""


def is_to_delete(volume: core_v1.PersistentVolume) -> bool:
    """Return whether the directory of a volume is to be deleted.

    The volume is being deleted, its policy is Delete, and no claim has it: a volume that a user deletes while it is
    bound keeps its data until the claim is gone.
    """
    metadata, spec = meta(volume), volume.get("spec") or {}
    return (
        metadata.deletion_timestamp is not None
        and FINALIZER in metadata.finalizers
        and PROTECTION not in metadata.finalizers
        and spec.get("persistentVolumeReclaimPolicy") == "Delete"
        and (volume.get("status") or {}).get("phase") in ("Released", "Failed")
    )


def capacity_bytes(capacity: Mapping[str, str | int | float]) -> int:
    """Return the size of a volume in bytes; 0 if its capacity has none."""
    size = capacity.get("storage")
    return parse(canonical(size)).value() if size is not None else 0


def listed(annotations: Mapping[str, str]) -> dict[str, str]:
    """Return the UIDs of the volumes in `TO_DELETE`, by name, at most `TO_DELETE_MAX`.

    A malformed annotation counts as empty.
    """
    found = _decoded(annotations.get(TO_DELETE, ""))
    if not isinstance(found, dict):
        return {}
    return {name: uid for name, uid in islice(found.items(), TO_DELETE_MAX) if isinstance(uid, str)}


def deleted(annotations: Mapping[str, str]) -> set[str]:
    """Return the UIDs in `DELETED`. A malformed annotation counts as empty."""
    found = _decoded(annotations.get(DELETED, ""))
    return {uid for uid in found if isinstance(uid, str)} if isinstance(found, list) else set()


def to_delete_text(volumes: Mapping[str, str]) -> str | None:
    """Return the annotation for volumes; None to have none."""
    first = sorted(volumes.items())[:TO_DELETE_MAX]
    return json.dumps(dict(first), separators=(",", ":")) if first else None


def deleted_text(uids: Iterable[str]) -> str | None:
    """Return the annotation for UIDs; None to have none."""
    ordered = sorted(uids)
    return json.dumps(ordered, separators=(",", ":")) if ordered else None


def _decoded(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except (ValueError, RecursionError):
        return None
