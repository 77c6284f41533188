"""Values as Kubernetes keeps them, in stores that others write to too."""

from sampan.storage.translation.forms import Upgrade, canonical, protobuf_form
from sampan.storage.translation.store import Translation, translated

__all__ = ["Translation", "Upgrade", "canonical", "protobuf_form", "translated"]
"""What a store of Kubernetes' needs: reading as it is, and writing so that kube-apiserver reads it."""
