"""Root directory of a container without namespaces: links to its volumes and to the image.

The program sees the machine's own root. It finds its volumes below `$SAMPAN_ROOT` and, by relative paths, below its
working directory. Nothing outside of the directory is changed.
"""

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from sampan.node.beneath import make_directories, open_directory, opened, remove_tree
from sampan.node.process.images import Image
from sampan.node.sessions import Mount


def make_root(root: Path, image: Image, mounts: Sequence[Mount]) -> None:
    """Create and fill the directory. Raises `OSError`."""
    root.mkdir(parents=True, exist_ok=True)
    if not image.is_host:
        _link_entries(Path(image.directory), root)
    for mount in mounts:
        _link(root, mount.container_path, Path(mount.host_path))


def working_directory(root: Path, image: Image, path: str) -> str:
    """Return the working directory for `path` in the container's root. It is created if it does not exist."""
    inside = root / path.lstrip("/")
    if not inside.is_dir():
        if image.is_host and os.path.isdir(path):
            return path
        # Below the root may be a link to a volume, in which a container can change the next parts of the path.
        parts = PurePosixPath(path).parts[1:] if path.startswith("/") else PurePosixPath(path).parts
        _make_below(root, parts)
    return str(inside)


def _make_below(root: Path, parts: Sequence[str]) -> None:
    """Make the directories of a path, following only links of the agent: those that are directly in its directories."""
    place = root
    for position, part in enumerate(parts):
        inner = place / part
        if inner.is_symlink():
            with opened(open_directory(inner)) as volume:
                os.close(make_directories(volume, "/".join(parts[position + 1 :]), 0o755))
            return
        inner.mkdir(exist_ok=True)
        place = inner


def _link(root: Path, container_path: str, target: Path) -> None:
    """Make a path below the root lead to `target`.

    If a part of the path is a link to a directory, it is replaced by a directory of links.
    """
    parts = [part for part in container_path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        raise OSError(f"cannot mount anything at {container_path}")
    place = root
    for part in parts[:-1]:
        place /= part
        if place.is_symlink() and place.is_dir():
            source = Path(os.path.realpath(place))
            place.unlink()
            place.mkdir()
            _link_entries(source, place)
        place.mkdir(exist_ok=True)
    place /= parts[-1]
    if place.is_symlink():
        place.unlink()
    elif place.is_dir():
        remove_tree(place)
    place.symlink_to(target)


def _link_entries(source: Path, place: Path) -> None:
    for entry in os.scandir(source):
        (place / entry.name).symlink_to(entry.path)
