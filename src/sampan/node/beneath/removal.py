"""`remove_tree`: deletes a directory tree that containers may have filled, and may still change."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from sampan.node.beneath.opening import open_directory, opened
from sampan.node.beneath.walk import enter, walk

_PASSES_MAX: Final = 3
"""A file system may skip entries while other entries are deleted."""


def remove_tree(path: Path) -> None:
    """Delete a directory with everything in it, or a file or link. Blocks.

    `path`: no container can change the directories above it.

    Guarantees: follows no link and enters no mount point, so it never deletes what is mounted there. Entries that
    cannot be deleted stay. Does nothing if the path does not exist.
    """
    with suppress(OSError), opened(open_directory(path.parent)) as parent:
        for _ in range(_PASSES_MAX):
            if _is_removed(parent, path.name):
                return


def _is_removed(parent: int, name: str) -> bool:
    """Delete as much as possible; returns whether nothing is left."""
    try:
        os.unlink(name, dir_fd=parent)
        return True
    except FileNotFoundError:
        return True
    except OSError:
        pass  # It is a directory.
    with suppress(OSError):
        top = enter(parent, name, unlock=True)
        if top is not None:
            with opened(top):
                _empty(top)
        os.rmdir(name, dir_fd=parent)
        return True
    return False


def _empty(top: int) -> None:
    for each in walk(top, unlock=True):
        with suppress(OSError):
            (os.rmdir if each.is_directory else os.unlink)(each.name, dir_fd=each.directory)
