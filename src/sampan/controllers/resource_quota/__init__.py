"""The resource quota controller: what quotas allow and what is used of them, counted again and again."""

from sampan.controllers.resource_quota.controller import set_up

__all__ = ["set_up"]
