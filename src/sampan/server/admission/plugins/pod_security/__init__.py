"""PodSecurity: restricts the access of Pods to their Node, with the levels of the Pod Security Standards."""

from sampan.server.admission.plugins.pod_security.plugin import PodSecurity

__all__ = ["PodSecurity"]
