"""The Deployment controller: rolls out templates with ReplicaSets, keeps their history and scales them."""

from sampan.controllers.deployment.controller import set_up

__all__ = ["set_up"]
