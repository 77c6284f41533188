"""The horizontal pod autoscaler: as many replicas as the measured load asks for."""

from sampan.controllers.horizontal_pod_autoscaler.controller import set_up

__all__ = ["set_up"]
