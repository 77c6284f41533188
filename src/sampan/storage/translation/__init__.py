"""Values as Kubernetes keeps them, in stores that others write to too."""

from sampan.storage.translation.forms import canonical, protobuf_form
from sampan.storage.translation.store import translated

__all__ = ["canonical", "protobuf_form", "translated"]
"""What a store of Kubernetes' needs: reading as it is, and writing so that kube-apiserver reads it."""
