"""NodeRestriction: a kubelet may change only its Node and the Pods on it."""

from sampan.server.admission.plugins.node_restriction.plugin import NodeRestriction

__all__ = ["NodeRestriction"]
