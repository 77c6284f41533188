"""Volume capabilities: CSI's description of the access to a volume, from the spec of a PersistentVolume or a claim.

Source: csi-lib-utils accessmodes/access_modes.go; external-attacher pkg/controller/util.go.
"""

from collections.abc import Iterable, Mapping
from typing import Any


class UnsupportedAccessMode(ValueError):
    """CSI has no equivalent of these access modes."""


def access_mode(modes: Iterable[str], *, single_node_multi_writer: bool) -> str:
    """Return CSI's name for a set of access modes. Raises `UnsupportedAccessMode`.

    `single_node_multi_writer`: the driver has the capability SINGLE_NODE_MULTI_WRITER.
    """
    given = set(modes)
    if "ReadWriteMany" in given:
        return "MULTI_NODE_MULTI_WRITER"
    if {"ReadOnlyMany", "ReadWriteOnce"} <= given:
        text = "CSI does not support ReadOnlyMany and ReadWriteOnce on the same PersistentVolume"
        raise UnsupportedAccessMode(text)
    if "ReadOnlyMany" in given:
        return "MULTI_NODE_READER_ONLY"
    if "ReadWriteOnce" in given:
        return "SINGLE_NODE_MULTI_WRITER" if single_node_multi_writer else "SINGLE_NODE_WRITER"
    if "ReadWriteOncePod" in given:
        return "SINGLE_NODE_SINGLE_WRITER" if single_node_multi_writer else "SINGLE_NODE_WRITER"
    raise UnsupportedAccessMode(f"unsupported AccessMode combination: {sorted(given)}")


def volume_capability(
    spec: Mapping[str, Any], modes: Iterable[str], *, fs_type: str = "", single_node_multi_writer: bool = False
) -> dict[str, Any]:
    """Return a VolumeCapability for a request. Raises `UnsupportedAccessMode`.

    `spec`: spec of a volume, or of a claim with `mountOptions`. `modes`: access modes for the volume.
    """
    access = {"mode": access_mode(modes, single_node_multi_writer=single_node_multi_writer)}
    if spec.get("volumeMode") == "Block":
        return {"block": {}, "access_mode": access}
    return {"mount": {"fs_type": fs_type, "mount_flags": spec.get("mountOptions") or []}, "access_mode": access}
