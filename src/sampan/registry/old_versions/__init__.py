"""Objects in versions that are served no more, as the store of an old cluster still has them."""

from sampan.registry.old_versions.table import group_now, in_served_version

__all__ = ["group_now", "in_served_version"]
