"""The StatefulSet controller: Pods with names and volumes of their own, made, updated and deleted in order."""

from sampan.controllers.stateful_set.controller import set_up

__all__ = ["set_up"]
