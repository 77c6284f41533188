"""Bind mounts of descriptors, and the removal of mounts.

A runtime gets paths. `bind` gives it one that no container can change, for a file that containers can rename.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from sampan.node.beneath.opening import is_directory, link_to, open_beneath, open_directory, opened
from sampan.node.beneath.removal import remove_tree
from sampan.node.beneath.system_calls import MNT_DETACH, MS_BIND, UMOUNT_NOFOLLOW, mount, umount

_MOUNT_INFO: Final = Path("/proc/self/mountinfo")


def bind(fd: int, place: Path) -> None:
    """Mount the file or directory of a descriptor at a path, instead of what is there. Blocks. Raises `OSError`.

    `place`: no container can change the directories above it.
    """
    if os.path.lexists(place):
        detach_all_below(place)
        remove_tree(place)
    place.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    if is_directory(fd):
        place.mkdir(mode=0o750)
    else:
        place.touch(mode=0o640)  # A file becomes a device, a pipe or a socket by the mount.
    mount(link_to(fd), str(place), flags=MS_BIND)


def mounts_below(directory: Path) -> list[str]:
    """Return the mount points at or below a directory, of every type, in the order of the mounts."""
    prefix = os.path.realpath(directory)
    lines = _MOUNT_INFO.read_text(errors="surrogateescape").splitlines()
    points = [unescaped(line.split(" ")[4]) for line in lines]
    return [path for path in points if path == prefix or path.startswith(f"{prefix}/")]


def detach_all_below(directory: Path) -> None:
    """Unmount every mount at or below a directory, before the directory is deleted."""
    # In reverse order of the mounts: a mount inside another one must go first.
    for path in reversed(mounts_below(directory)):
        detach(path)


def detach(path: str) -> None:
    """Unmount the newest mount at a path of the mount table, even if it is in use. Errors are ignored.

    A container may have moved a directory above the mount point since the table was read, so no link is followed.
    """
    try:
        with opened(open_directory("/")) as root, opened(open_beneath(root, path.lstrip("/"), links=False)) as fd:
            umount(link_to(fd), MNT_DETACH)
    except OSError:
        # A file system whose server does not respond cannot be opened, but it can be unmounted by its name.
        with suppress(OSError):
            umount(path, MNT_DETACH | UMOUNT_NOFOLLOW)


def unescaped(path: str) -> str:
    """Return a path of the mount table without its escapes."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        path = path.replace(code, character)
    return path
