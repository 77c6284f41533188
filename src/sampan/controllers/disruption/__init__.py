"""The disruption controller: writes the number of allowed evictions to the status of PodDisruptionBudgets."""

from sampan.controllers.disruption.controller import set_up

__all__ = ["set_up"]
