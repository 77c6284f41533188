"""Services of type LoadBalancer: addresses of the nodes or of a pool; or an event that explains a pending Service."""

from sampan.controllers.service_load_balancer.set_up import set_up

__all__ = ["set_up"]
