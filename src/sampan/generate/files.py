"""Writes generated files: only what has changed, or (for checks in CI) nothing at all."""

from collections.abc import Mapping
from pathlib import Path


def changed(files: Mapping[Path, bytes]) -> list[Path]:
    """The files whose content on disk is another, or which are not there; sorted."""
    return sorted(path for path, content in files.items() if not path.is_file() or path.read_bytes() != content)


def write(files: Mapping[Path, bytes]) -> list[Path]:
    """Write what has changed, with the folders that it needs; gives the paths written."""
    written = changed(files)
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[path])
    return written
