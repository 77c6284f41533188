"""ResourceQuota: what a namespace may hold and take together."""

from sampan.server.admission.resource_quota.plugin import ResourceQuota

__all__ = ["ResourceQuota"]
