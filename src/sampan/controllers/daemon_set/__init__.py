"""The DaemonSet controller: keeps one Pod on each eligible Node and updates a few Nodes at a time."""

from sampan.controllers.daemon_set.controller import set_up

__all__ = ["set_up"]
