"""Volumes that are directories of this node: their creation, quota and deletion."""
