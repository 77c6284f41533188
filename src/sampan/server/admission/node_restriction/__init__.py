"""NodeRestriction: a Node changes itself and its own Pods, and nothing else."""

from sampan.server.admission.node_restriction.plugin import NodeRestriction

__all__ = ["NodeRestriction"]
