"""`draft_of`: a file under a temporary name, which is renamed when it is complete and on disk."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sampan.storage.snapshot.format import SnapshotError


@contextmanager
def draft_of(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that only its owner may read. At the end of the block it is renamed to `path`.

    If the block raises, the file is removed. The next writer overwrites the draft that a killed process left. `force`:
    replace an existing file. Raises `SnapshotError`, `OSError`.
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
    """Flush the entries of a directory to disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refuse(path: Path, force: bool) -> None:
    if path.is_dir():
        raise SnapshotError(f"{path} is a directory")
    if not path.parent.is_dir():
        raise SnapshotError(f"the directory {path.parent} does not exist")
    if path.exists() and not force:
        raise SnapshotError(f"{path} exists; use --force to replace it")


def _claim(file: BinaryIO, draft: Path) -> None:
    """Lock the draft for one writer, and check that it still has its name. Another writer may have just renamed it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise SnapshotError(f"{draft} is being written by another process") from error
    if not draft.exists() or not os.path.samestat(os.fstat(file.fileno()), draft.stat()):
        raise SnapshotError(f"{draft} has just been written by another process")
    os.fchmod(file.fileno(), 0o600)
    file.truncate(0)
