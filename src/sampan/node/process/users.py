"""User, group and home directory of a container."""

import os
import stat
from typing import Final

from sampan.node.beneath import open_beneath, open_directory, opened
from sampan.node.process.launch import LaunchError

_READ: Final = os.O_RDONLY | os.O_NONBLOCK
_BYTES_MAX: Final = 1 << 20
"""Maximum size of a database of users. The rest of a larger one is ignored."""


def ids_of(user: str, directory: str) -> tuple[int, int] | None:
    """Return user and group of an image's `user`: `name`, `uid`, `name:group`, `uid:gid`; None for a missing part.

    Names are looked up in the image's own /etc. Raises `LaunchError`.
    """
    if not user:
        return None
    name, _, group = user.partition(":")
    entry = _entry(directory, "passwd", name)
    if entry is None and not name.isdigit():
        raise LaunchError(f"unable to find user {name}: no matching entries in passwd file")
    uid = int(entry[2]) if entry else int(name)
    if not group:
        return uid, int(entry[3]) if entry else 0
    if group.isdigit():
        return uid, int(group)
    found = _entry(directory, "group", group)
    if found is None:
        raise LaunchError(f"unable to find group {group}: no matching entries in group file")
    return uid, int(found[2])


def home_of(uid: int, directory: str) -> str:
    """Return the home directory of a user in an image; `/` if it has none."""
    entry = _entry(directory, "passwd", str(uid))
    return entry[5] if entry and entry[5] else "/"


def _entry(directory: str, database: str, name: str) -> list[str] | None:
    """Return the fields of the entry with a name or number in a file such as passwd or group.

    The author of the image, or a container that writes to it, chooses what the file is. So links do not lead out of
    the image, and a pipe or a device is not read.
    """
    try:
        with opened(open_directory(directory)) as root, opened(open_beneath(root, f"etc/{database}", _READ)) as fd:
            text = os.read(fd, _BYTES_MAX) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return None
    fields = (line.split(":") for line in text.decode(errors="replace").splitlines())
    fields_max = 7 if database == "passwd" else 3
    return next((each for each in fields if len(each) >= fields_max and name in (each[0], each[2])), None)
