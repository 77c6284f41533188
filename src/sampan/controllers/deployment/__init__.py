"""The Deployment controller: rolls a template out over ReplicaSets, keeps their history, scales them together."""

from sampan.controllers.deployment.controller import set_up

__all__ = ["set_up"]
