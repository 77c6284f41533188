"""Volumes that are directories of nodes: a default StorageClass, their creation, and their deletion."""

from sampan.controllers.local_path.set_up import set_up

__all__ = ["set_up"]
