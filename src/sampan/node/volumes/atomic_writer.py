"""`write_files`: replaces all files of a volume atomically: a reader sees either the old files or the new ones.

The files are in a directory (`..2026_01_02_…`) to which the link `..data` points. Users see links through it
(`name -> ..data/name`). Replacing `..data` changes all files at once. A container with enough rights can write to the
volume, so all of it is done below the descriptor of the volume.
Source: kubernetes pkg/volume/util/atomic_writer.go (1.36).
"""

import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from sampan.core.clock import utc_now
from sampan.node.beneath import (
    Found,
    link_to,
    make_directories,
    open_beneath,
    open_directory,
    open_file,
    opened,
    remove_tree,
    walk,
)

DATA: Final = "..data"
_NEW_DATA: Final = "..data_tmp"
_GROUP_FILE: Final = 0o440
_GROUP_DIRECTORY: Final = 0o2550


@dataclass(frozen=True, slots=True)
class File:
    """File of a volume."""

    data: bytes
    mode: int = 0o644
    owner: int | None = None
    """User id; None for the agent's user."""


Payload = Mapping[str, File]
"""Files by their path below the volume."""


def write_files(volume: Path, payload: Payload, *, group: int | None = None) -> bool:
    """Replace the files of a volume. Returns whether anything changed.

    `group`: group that owns the volume and may read all files (a Pod's fsGroup). Only root can set owners and groups.
    Raises `OSError`, and `ValueError` for an invalid path.
    """
    for path in payload:
        check_path(path)
    if os.geteuid() != 0:
        group = None
    if group is not None:
        payload = {path: replace(file, mode=file.mode | _GROUP_FILE) for path, file in payload.items()}
    volume.mkdir(parents=True, exist_ok=True)
    with opened(open_directory(volume)) as top:
        return _replace(top, payload, group)


def _replace(top: int, payload: Payload, group: int | None) -> bool:
    before = _current(top)
    if before and _has(top, before, payload):
        _link(top, payload)
        return False
    after = _written(top, payload, group)
    if group is not None:
        _give(top, group)
    with suppress(FileNotFoundError):
        os.unlink(_NEW_DATA, dir_fd=top)
    os.symlink(after, _NEW_DATA, dir_fd=top)
    os.rename(_NEW_DATA, DATA, src_dir_fd=top, dst_dir_fd=top)
    _link(top, payload)
    if before:
        remove_tree(Path(link_to(top), before))
    return True


def check_path(path: str) -> None:
    """Raise `ValueError` for a path that leaves the volume, or that collides with the writer's own names."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/"):
        raise ValueError(f"invalid path: must be relative path: {path}")
    if ".." in parts:
        raise ValueError(f'invalid path: must not contain "..": {path}')
    if parts[0].startswith(".."):
        raise ValueError(f'invalid path: must not start with "..": {path}')


def _current(top: int) -> str:
    """Return the name of the directory with the files; empty if there is none.

    The link `..data` may be that of a container: it must lead to a directory of the volume itself.
    """
    try:
        target = os.readlink(DATA, dir_fd=top)
        found = os.stat(target, dir_fd=top, follow_symlinks=False)
    except OSError:
        return ""
    is_own = target.startswith("..") and target not in ("..", DATA, _NEW_DATA) and "/" not in target
    return target if is_own and stat.S_ISDIR(found.st_mode) else ""


def _has(top: int, name: str, payload: Payload) -> bool:
    """Return whether a directory has exactly these files."""
    desired = {PurePosixPath(path).as_posix(): file for path, file in payload.items()}
    try:
        with opened(open_beneath(top, name, os.O_RDONLY | os.O_DIRECTORY, links=False)) as directory:
            start = os.readlink(link_to(directory))
            for each in walk(directory):
                if each.is_directory:
                    continue
                path = os.path.join(os.path.relpath(os.readlink(link_to(each.directory)), start), each.name)
                file = desired.pop(os.path.normpath(path), None)
                if file is None or not _is_same(each, file):
                    return False
    except OSError:
        return False
    return not desired


def _is_same(found: Found, file: File) -> bool:
    status = found.status
    if stat.S_IMODE(status.st_mode) != file.mode or status.st_size != len(file.data):
        return False
    if file.owner not in (None, status.st_uid) and os.geteuid() == 0:
        return False
    with open_file(found.name, directory=found.directory) as opened_file:
        return opened_file.read(len(file.data) + 1) == file.data


def _written(top: int, payload: Payload, group: int | None) -> str:
    """Create a new directory with the files, and return its name.

    It is closed to other users until all modes are set.
    """
    name = utc_now().strftime("..%Y_%m_%d_%H_%M_%S.") + secrets.token_hex(4)
    os.mkdir(name, 0o700, dir_fd=top)
    with opened(open_beneath(top, name, os.O_RDONLY | os.O_DIRECTORY, links=False)) as directory:
        for path, file in payload.items():
            parts = PurePosixPath(path)
            with opened(make_directories(directory, str(parts.parent), 0o755)) as parent:
                _write(parent, parts.name, file, group)
        for each in walk(directory):
            if each.is_directory:
                with opened(open_beneath(each.directory, each.name, os.O_RDONLY, links=False)) as inner:
                    _open_up(inner, group)
        _open_up(directory, group)
    return name


def _write(directory: int, name: str, file: File, group: int | None) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=directory)
    with open(fd, "wb") as written:
        written.write(file.data)
        written.flush()
        if os.geteuid() == 0:
            os.fchown(fd, -1 if file.owner is None else file.owner, -1 if group is None else group)
        os.fchmod(fd, file.mode)


def _open_up(directory: int, group: int | None) -> None:
    os.fchmod(directory, 0o755)
    if group is not None:
        _give(directory, group)


def _give(directory: int, group: int) -> None:
    """Let a group own a directory, and allow the group to enter it.

    Source: kubernetes pkg/volume/volume_linux.go (1.36).
    """
    os.fchown(directory, -1, group)
    os.fchmod(directory, stat.S_IMODE(os.fstat(directory).st_mode) | _GROUP_DIRECTORY)


def _link(top: int, payload: Payload) -> None:
    """Replace the links that users see: one for the first segment of each path."""
    desired = {PurePosixPath(path).parts[0] for path in payload}
    with os.scandir(top) as entries:
        links = {entry.name for entry in entries if entry.is_symlink()}
    for name in desired - links:
        os.symlink(f"{DATA}/{name}", name, dir_fd=top)
    for name in links - desired - {DATA, _NEW_DATA}:
        os.unlink(name, dir_fd=top)
