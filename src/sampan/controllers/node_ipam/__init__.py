"""The node IPAM controller: allocates a range of Pod addresses to each Node."""

from sampan.controllers.node_ipam.controller import set_up

__all__ = ["set_up"]
