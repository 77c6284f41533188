"""Rules for pods on create and on update.

Source: pkg/apis/core/validation/validation.go validatePodMetadataAndSpec (1.36).
"""

from __future__ import annotations

from sampan.core.field import FieldError, Path, forbidden
from sampan.core.object import Object
from sampan.kinds import core_v1
from sampan.registry.kinds.pod_spec.annotations import validate_pod_annotations
from sampan.registry.kinds.pod_spec.containers import check_image_spaces
from sampan.registry.kinds.pod_spec.options import PodOptions
from sampan.registry.kinds.pod_spec.spec import validate_pod_spec

Errors = list[FieldError]
_SPEC = Path("spec")
_ANNOTATIONS = Path("metadata", "annotations")


def validate_pod(pod: Object, errors: Errors, options: PodOptions) -> None:
    """Check the annotations and the spec of a pod."""
    metadata, spec = pod["metadata"], pod["spec"]
    annotations = metadata.get("annotations")
    if annotations:
        validate_pod_annotations(annotations, spec, _ANNOTATIONS, errors, options)
    validate_pod_spec(spec, metadata, _SPEC, errors, options)
    if not spec.get("serviceAccountName"):
        _check_tokens(spec, errors)
    for kind in ("containers", "initContainers"):
        for i, container in enumerate(spec.get(kind, ())):
            image = container.get("image", "")
            if image[:1].isspace() or image[-1:].isspace():
                check_image_spaces(container, _SPEC.child(kind).index(i), errors)


def _check_tokens(spec: core_v1.PodSpec, errors: Errors) -> None:
    for i, volume in enumerate(spec.get("volumes", ())):
        for j, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if source.get("serviceAccountToken") is not None:
                at = _SPEC.child("volumes").index(i).child("projected", "sources").index(j)
                text = "must not be specified when serviceAccountName is not set"
                errors.append(forbidden(at.child("serviceAccountToken"), text))
