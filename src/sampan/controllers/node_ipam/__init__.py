"""The node IPAM controller: each Node gets a range of addresses for its Pods."""

from sampan.controllers.node_ipam.controller import set_up

__all__ = ["set_up"]
