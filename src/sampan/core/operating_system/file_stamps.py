"""`stamps`: detect changed files without reading their contents."""

from pathlib import Path

Stamps = tuple[tuple[int, int, int] | None, ...]
"""Modification time, size and inode number of each file; None for a missing file."""


def stamps(*paths: Path) -> Stamps:
    """Return the current stamps of files."""
    return tuple(map(_stamp, paths))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
