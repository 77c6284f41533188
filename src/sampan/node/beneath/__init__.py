"""File operations as root on paths that containers can change.

A container can replace each component of a path in its volumes by a link, at any moment. A path that was checked may
therefore lead to another file when it is used. The functions of this package resolve a path once, to a descriptor, and
then use only the descriptor: they create, read, own, delete and mount what it refers to.

Assumptions: the directories above a volume belong to the agent, and no container can change them.
Source: kubernetes pkg/volume/util/subpath/subpath_linux.go (1.36); openat2(2).
"""

from sampan.node.beneath.binds import bind, detach, detach_all_below, mounts_below
from sampan.node.beneath.opening import (
    OWN,
    is_directory,
    link_to,
    make_directories,
    open_beneath,
    open_directory,
    open_file,
    open_log,
    opened,
)
from sampan.node.beneath.removal import remove_tree
from sampan.node.beneath.walk import Found, walk

__all__ = [
    "OWN",
    "Found",
    "bind",
    "detach",
    "detach_all_below",
    "is_directory",
    "link_to",
    "make_directories",
    "mounts_below",
    "open_beneath",
    "open_directory",
    "open_file",
    "open_log",
    "opened",
    "remove_tree",
    "walk",
]
