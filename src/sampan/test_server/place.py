"""Place of the warm parent: a private directory with its socket, its log, and the data that servers start from."""

import fcntl
import hashlib
import os
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Final

import sampan
from sampan.core.clock import monotonic

SOCKET: Final = "socket"
LOCK: Final = "lock"
LOG: Final = "log"
TEMPLATE: Final = "template"
SERVERS: Final = "servers"
TAKE_TIMEOUT_S: Final = 60.0
"""Time for which a parent waits until another one either serves or has ended."""
_RETRY_S: Final = 0.02
_OTHER_USERS: Final = 0o077
_SOCKET_PATH_BYTES_MAX: Final = 100


class PlaceError(RuntimeError):
    """The directory belongs to another user, is open to other users, or has a path that is too long."""


def place() -> Path:
    """Return the directory for this user, this Python environment and this copy of Sampan. It may not exist yet."""
    identity = "\0".join((sys.executable, sys.prefix, str(Path(sampan.__file__).parent)))
    name = hashlib.sha256(identity.encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"sampan-test-{os.getuid()}" / name


def prepare_place(directory: Path) -> None:
    """Create the directory, or check that only its owner may use it. Raises `PlaceError`, `OSError`."""
    socket_path = directory / SOCKET
    if len(os.fsencode(socket_path)) > _SOCKET_PATH_BYTES_MAX:
        raise PlaceError(f"{socket_path} is too long for a socket: set TMPDIR to a shorter path")
    for each in (directory.parent, directory):
        each.mkdir(mode=0o700, exist_ok=True)
        found = each.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & _OTHER_USERS:
            raise PlaceError(f"{each} must be a directory that only you may use: remove it, or set TMPDIR")


def take_place(directory: Path) -> IO[str] | None:
    """Return the lock of the only parent in this directory, or None if there is one that serves.

    A parent that ends has no socket but still has the lock. Its successor waits for the lock: the client that has
    started the successor starts no other one. Raises `PlaceError`, `OSError`.
    """
    prepare_place(directory)
    file = (directory / LOCK).open("w")
    deadline = monotonic() + TAKE_TIMEOUT_S
    while not _locked(file):
        if (directory / SOCKET).exists() or monotonic() > deadline:
            file.close()
            return None
        time.sleep(_RETRY_S)
    return file


def _locked(file: IO[str]) -> bool:
    """Lock the file. Return False if another process has locked it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
