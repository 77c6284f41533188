"""A container that swaps a directory of its volume with a link to the machine's files, as fast as it can."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

_SWAP = """
import ctypes, os, sys
rename, libc = os.fsencode, ctypes.CDLL(None)
for _ in range(int(sys.argv[3])):
    libc.renameat2(-100, rename(sys.argv[1]), -100, rename(sys.argv[2]), 2)
"""
_SWAPS_MAX = 50_000_000


@contextmanager
def swapping(first: Path, second: Path) -> Iterator[None]:
    """Exchange two paths atomically, again and again, in another process until the end of the block."""
    command = [sys.executable, "-c", _SWAP, str(first), str(second), str(_SWAPS_MAX)]
    with subprocess.Popen(command) as process:
        try:
            yield
        finally:
            process.kill()


def repetitions(seconds: float) -> Iterator[int]:
    """Yield numbers for a time, and at least 50 of them."""
    end, number = monotonic() + seconds, 0
    while number < 50 or monotonic() < end:
        yield number
        number += 1


def snapshot(directory: Path) -> dict[str, tuple[int, int, int]]:
    """Return mode, owner and group of all files below a directory, to see changes."""
    found = {}
    for path in (directory, *directory.rglob("*")):
        status = os.lstat(path)
        found[str(path)] = (status.st_mode, status.st_uid, status.st_gid)
    return found
