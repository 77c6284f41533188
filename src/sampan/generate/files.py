"""Writing of generated files: only changed ones, or none at all for checks in CI."""

from collections.abc import Mapping
from pathlib import Path


def changed(files: Mapping[Path, bytes]) -> list[Path]:
    """Return the sorted paths of files that are missing or have other content on disk."""
    return sorted(path for path, content in files.items() if not path.is_file() or path.read_bytes() != content)


def write(files: Mapping[Path, bytes]) -> list[Path]:
    """Write the changed files and create their folders; return the paths written."""
    written = changed(files)
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[path])
    return written
