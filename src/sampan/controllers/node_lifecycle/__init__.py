"""The node lifecycle controller: nodes that say nothing any more are not ready; taints tell how nodes are."""

from sampan.controllers.node_lifecycle.controller import set_up

__all__ = ["set_up"]
