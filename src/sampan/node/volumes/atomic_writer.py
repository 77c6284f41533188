"""`write_files`: replaces all files of a volume atomically: a reader sees either the old files or the new ones.

The files are in a directory (`..2026_01_02_…`) to which the link `..data` points. Users see links through it
(`name -> ..data/name`). Replacing `..data` changes all files at once.
Source: kubernetes pkg/volume/util/atomic_writer.go (1.36).
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from sampan.core.clock import utc_now

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
    before = _current(volume)
    if before is not None and _has(before, payload):
        _link(volume, payload)
        return False
    after = _written(volume, payload, group)
    if group is not None:
        _give(volume, group)
    new_link = volume / _NEW_DATA
    new_link.unlink(missing_ok=True)
    new_link.symlink_to(after.name)
    new_link.rename(volume / DATA)
    _link(volume, payload)
    if before is not None:
        shutil.rmtree(before, ignore_errors=True)
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


def _current(volume: Path) -> Path | None:
    try:
        target = os.readlink(volume / DATA)
    except OSError:
        return None
    found = volume / target
    return found if found.is_dir() else None


def _has(directory: Path, payload: Payload) -> bool:
    """Return whether a directory has exactly these files."""
    found = {path.relative_to(directory).as_posix(): path for path in directory.rglob("*") if not path.is_dir()}
    if found.keys() != {PurePosixPath(path).as_posix() for path in payload}:
        return False
    for name, file in payload.items():
        path = directory / name
        found_now = path.stat()
        if stat.S_IMODE(found_now.st_mode) != file.mode or path.read_bytes() != file.data:
            return False
        if file.owner not in (None, found_now.st_uid) and os.geteuid() == 0:
            return False
    return True


def _written(volume: Path, payload: Payload, group: int | None) -> Path:
    """Create a new directory with the files. It is closed to other users until all modes are set."""
    moment = utc_now().strftime("..%Y_%m_%d_%H_%M_%S.")
    directory = Path(tempfile.mkdtemp(prefix=moment, dir=volume))
    for name, file in payload.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)
        if os.geteuid() == 0:
            os.chown(path, -1 if file.owner is None else file.owner, -1 if group is None else group)
        path.chmod(file.mode)
    for path in (*(each for each in directory.rglob("*") if each.is_dir()), directory):
        path.chmod(0o755)
        if group is not None:
            _give(path, group)
    return directory


def _give(directory: Path, group: int) -> None:
    """Let a group own a directory, and allow the group to enter it.

    Source: kubernetes pkg/volume/volume_linux.go (1.36).
    """
    os.chown(directory, -1, group)
    directory.chmod(directory.stat().st_mode & 0o7777 | _GROUP_DIRECTORY)


def _link(volume: Path, payload: Payload) -> None:
    """Replace the links that users see: one for the first segment of each path."""
    desired = {PurePosixPath(path).parts[0] for path in payload}
    for name in desired:
        link = volume / name
        if not link.is_symlink():
            link.symlink_to(f"{DATA}/{name}")
    for link in volume.iterdir():
        if link.is_symlink() and link.name not in desired and link.name not in (DATA, _NEW_DATA):
            link.unlink()
