"""ResourceQuota: limits the objects and resources of a namespace."""

from sampan.server.admission.plugins.resource_quota.plugin import ResourceQuota

__all__ = ["ResourceQuota"]
