"""The disruption controller: how many Pods may be evicted now, told in the status of PodDisruptionBudgets."""

from sampan.controllers.disruption.controller import set_up

__all__ = ["set_up"]
