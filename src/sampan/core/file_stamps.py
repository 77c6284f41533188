"""`stamps`: whether files have changed, without reading them."""

from pathlib import Path

Stamps = tuple[tuple[int, int, int] | None, ...]
"""By which files are known to have changed: for each its time, size and number, None when it is not there."""


def stamps(*paths: Path) -> Stamps:
    """Those of files as they are now."""
    return tuple(map(_stamp, paths))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
