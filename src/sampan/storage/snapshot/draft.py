"""`draft_of`: a file under a temporary name, which gets its own name when it is whole and on disk."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sampan.storage.snapshot.format import SnapshotError


@contextmanager
def draft_of(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """A file to write to, for its owner's eyes only; at the end of the block it is `path`.

    When the block raises, nothing is left. What a killed process left is written over by the next. `force`: a file that
    is there is replaced. Raises `SnapshotError`, `OSError`.
    """
    _refuse(path, force)
    draft = path.with_name(f".{path.name}.partial")
    with os.fdopen(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "w+b") as file:
        _claim(file, draft)
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            _refuse(path, force)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """The names in a directory are on disk when this returns."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse(path: Path, force: bool) -> None:
    if path.is_dir():
        raise SnapshotError(f"{path} is a directory")
    if not path.parent.is_dir():
        raise SnapshotError(f"there is no directory {path.parent}")
    if path.exists() and not force:
        raise SnapshotError(f"{path} exists; --force replaces it")


def _claim(file: BinaryIO, draft: Path) -> None:
    """One writer at a time; and the file must still be the one of that name, as it has become a snapshot otherwise."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise SnapshotError(f"{draft} is being written by another process") from error
    if not draft.exists() or not os.path.samestat(os.fstat(file.fileno()), draft.stat()):
        raise SnapshotError(f"{draft} has just been written by another process")
    os.fchmod(file.fileno(), 0o600)
    file.truncate(0)
