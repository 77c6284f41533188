"""NodeRestriction: a kubelet may change only its Node and the Pods on it."""

from sampan.server.admission.node_restriction.plugin import NodeRestriction

__all__ = ["NodeRestriction"]
