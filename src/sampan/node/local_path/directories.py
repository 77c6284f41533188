"""`LocalDirectories`: the directories of volumes below the directory of the node.

`<root>/local-volumes/<UID of the PersistentVolume>`. The server chooses the UID, so no client can choose the path. Only
the user of the agent can enter `local-volumes`, so the directories in it can have a mode that lets every Pod write.
"""

import logging
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from sampan.node.beneath import open_beneath, open_directory, opened, remove_tree
from sampan.node.local_path.quota import assign, limit, release

NAME: Final = "local-volumes"
_UID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MODE: Final = 0o777
_READ: Final = os.O_RDONLY | os.O_DIRECTORY
_log = logging.getLogger("sampan.node")


class LocalDirectories:
    """Creates and deletes the directories of one node. All methods block, and can be repeated after any failure."""

    def __init__(self, root: Path) -> None:
        """`root`: directory of the node, which no container can change."""
        self._top = root.absolute() / NAME
        self._is_reported = False

    def prepare(self, uid: str, size_bytes: int) -> Path:
        """Return the directory of a volume, after creating it if it is missing. Raises `OSError`, `ValueError`.

        `size_bytes`: limit for its files, if the file system has project quotas; 0 for none.
        """
        _check(uid)
        self._top.mkdir(mode=0o700, parents=True, exist_ok=True)
        with opened(open_directory(self._top)) as top:
            try:
                fd = open_beneath(top, uid, _READ, links=False, mounts=False)
            except FileNotFoundError:
                fd, is_limited = _create(top, uid)
                self._report(is_limited or not size_bytes)
            with opened(fd):
                limit(fd, size_bytes)
        return self._top / uid

    def _report(self, is_limited: bool) -> None:
        """Log once that sizes of volumes are no limits here."""
        if not is_limited and not self._is_reported:
            self._is_reported = True
            _log.warning(
                "the size of volumes is no limit: the file system has no project quotas; mount it with prjquota",
                extra={"path": str(self._top)},
            )

    def remove(self, uid: str) -> bool:
        """Delete the directory of a volume with everything in it. Return whether nothing is left. Raises `ValueError`.

        Follows no link, and enters no mount point.
        """
        _check(uid)
        with suppress(OSError), opened(open_directory(self._top)) as top:
            with opened(open_beneath(top, uid, _READ, links=False, mounts=False)) as fd:
                project = release(fd)
            remove_tree(self._top / uid)
            if project and not _exists(top, uid):
                project.forget(top)
        return not os.path.lexists(self._top / uid)


def _check(uid: str) -> None:
    if not _UID.fullmatch(uid):
        raise ValueError(f"{uid!r} is not the UID of a volume")


def _create(top: int, uid: str) -> tuple[int, bool]:
    """Create a directory with its mode and quota. It gets its name last, so it never exists without them.

    Returns its file descriptor, and False if the file system has no project quotas.
    """
    new = f"new-{uid}"
    with suppress(FileExistsError):
        os.mkdir(new, 0o700, dir_fd=top)
    fd = open_beneath(top, new, _READ, links=False, mounts=False)
    try:
        is_limited = assign(fd, uid)
        os.fchmod(fd, _MODE)
        os.rename(new, uid, src_dir_fd=top, dst_dir_fd=top)
    except BaseException:
        os.close(fd)
        raise
    return fd, is_limited


def _exists(top: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=top, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
