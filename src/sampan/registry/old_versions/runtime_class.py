"""RuntimeClasses of node.k8s.io/v1alpha1. Source: pkg/apis/node/v1alpha1/conversion.go (1.36)."""

from sampan.core.object import Object


def runtime_class(obj: Object) -> None:
    """Move the fields out of `spec`, which v1 does not have."""
    spec = obj.pop("spec", None) or {}
    obj["handler"] = spec.pop("runtimeHandler", "")
    obj.update({name: value for name, value in spec.items() if value is not None})
