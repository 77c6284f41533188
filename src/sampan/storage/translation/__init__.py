"""Conversion of stored values between our encoding and Kubernetes' own, for stores shared with kube-apiserver."""

from sampan.storage.translation.forms import Upgrade, canonical, protobuf_form
from sampan.storage.translation.store import Translation, translated

__all__ = ["Translation", "Upgrade", "canonical", "protobuf_form", "translated"]
