"""The StatefulSet controller: creates, updates and deletes Pods with stable names and volumes, in order."""

from sampan.controllers.stateful_set.controller import set_up

__all__ = ["set_up"]
