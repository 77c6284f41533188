"""PodSecurity: how much of its Node a Pod may get at, by the levels of the Pod Security Standards."""

from sampan.server.admission.pod_security.plugin import PodSecurity

__all__ = ["PodSecurity"]
