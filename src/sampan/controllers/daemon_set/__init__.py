"""The DaemonSet controller: one Pod on each Node that is eligible, updated a few Nodes at a time."""

from sampan.controllers.daemon_set.controller import set_up

__all__ = ["set_up"]
