"""Removal of the directory of a Pod, with its volumes.

Volumes of drivers stay: only drivers may remove them, because deleting the directory of a mounted volume would delete
its data.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from sampan.node.beneath import detach, detach_all_below, mounts_below, remove_tree
from sampan.node.tmpfs import unmount_below
from sampan.node.volumes.csi import PLUGIN

PARTS: Final = "volume-subpaths"
"""Directory of a Pod for parts of its volumes."""
_OF_DRIVERS: Final = (PLUGIN, "volumeDevices")


def remove_pod(directory: Path) -> None:
    """Remove the directory of a Pod, except for volumes of drivers. Blocks. Can be repeated."""
    # First: below a mounted part are the files of a volume, which may be that of a driver.
    detach_all_below(directory / PARTS)
    unmount_below(directory)
    _remove(directory)


def remove_volumes(directory: Path) -> None:
    """Remove the volumes of a Pod, except for those of drivers, and its directory if nothing is left in it. Blocks."""
    detach_all_below(directory / PARTS)
    unmount_below(directory)
    _remove(directory / "volumes")
    remove_tree(directory / PARTS)
    with suppress(OSError):
        directory.rmdir()


def detach_parts(pods: Path, uids: set[str]) -> None:
    """Unmount the parts of volumes of all Pods but these, so that drivers can unmount the volumes. Blocks."""
    for path in reversed(mounts_below(pods)):
        uid, _, inner = path.removeprefix(f"{pods.resolve()}/").partition("/")
        if uid not in uids and (inner == PARTS or inner.startswith(f"{PARTS}/")):
            detach(path)


def _remove(directory: Path) -> None:
    for path in list(directory.iterdir()) if directory.is_dir() else ():
        if path.name == "volumes" and path.is_dir() and not path.is_symlink():
            _remove(path)
        elif path.name not in _OF_DRIVERS:
            remove_tree(path)
    with suppress(OSError):
        directory.rmdir()
