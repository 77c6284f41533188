"""The node lifecycle controller: marks silent nodes as unknown and taints nodes according to their conditions."""

from sampan.controllers.node_lifecycle.controller import set_up

__all__ = ["set_up"]
