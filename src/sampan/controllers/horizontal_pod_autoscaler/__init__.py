"""The horizontal pod autoscaler: scales workloads according to measured load."""

from sampan.controllers.horizontal_pod_autoscaler.controller import set_up

__all__ = ["set_up"]
