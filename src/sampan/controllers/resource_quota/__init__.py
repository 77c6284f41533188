"""The resource quota controller: recalculates the usage that quotas report."""

from sampan.controllers.resource_quota.controller import set_up

__all__ = ["set_up"]
