"""Convert stored objects from versions that are no longer served.

An old cluster's store still has them: Kubernetes rewrites an object only when a client changes it.
"""

from sampan.registry.old_versions.table import group_now, in_served_version

__all__ = ["group_now", "in_served_version"]
