"""Lock that allows one process for each data directory."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sampan.app.errors import StartError, unusable_directory

LOCK: Final = "lock"


@contextmanager
def locked_directory(directory: Path) -> Iterator[None]:
    """Lock a directory, and create it with mode 0700 if needed. Raises `StartError` if it is locked or unusable."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unusable_directory(directory, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StartError(f"the data directory {directory} is in use by another sampan process") from error
        yield
    finally:
        os.close(descriptor)


def is_absent_or_empty(directory: Path) -> bool:
    """Return True if nothing is in a directory, not even the lock of another process."""
    try:
        return not any(directory.iterdir())
    except FileNotFoundError:
        return True
    except OSError:
        return False
