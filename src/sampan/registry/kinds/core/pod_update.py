"""Rules for updates of the spec of a pod.

Source: pkg/apis/core/validation/validation.go ValidatePodUpdate (1.36).
"""

from __future__ import annotations

from sampan.core.field import FieldError, Path, forbidden, invalid, required
from sampan.core.object import Object, set_or_drop
from sampan.kinds import core_v1
from sampan.registry.kinds.core.valid_pod import validate_pod
from sampan.registry.kinds.pod_spec.annotations import validate_annotation_changes
from sampan.registry.kinds.pod_spec.options import PodOptions, options_for
from sampan.registry.kinds.pod_spec.scheduling import validate_tolerations
from sampan.registry.rules.fields import difference
from sampan.registry.rules.semantics import same

Errors = list[FieldError]
_SPEC = Path("spec")
_ANNOTATIONS = Path("metadata", "annotations")
_INT32_MAX = 2**31 - 1
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_UPDATABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    )
)


def update_options(old: Object) -> PodOptions:
    """Return the validation options for an update of a stored pod."""
    return options_for(old["spec"], old["metadata"], is_pod=True)


def validate_pod_update(pod: Object, old: Object, errors: Errors) -> None:
    """Check an update of a pod's main endpoint."""
    options = update_options(old)
    spec, old_spec = pod["spec"], old["spec"]
    validate_pod(pod, errors, options)
    annotations = pod["metadata"].get("annotations") or {}
    validate_annotation_changes(annotations, old["metadata"].get("annotations") or {}, _ANNOTATIONS, errors)
    for kind in ("containers", "initContainers"):
        if not _check_images(spec.get(kind) or [], old_spec.get(kind) or [], _SPEC.child(kind), errors):
            return
    if not _check_deadline(spec, old_spec, errors):
        return
    _check_tolerations(spec, old_spec, errors, options)
    _check_gates(spec, old_spec, errors)
    if not same(spec, old_spec):
        _check_rest(spec, old_spec, errors)


def _check_images(new: list[core_v1.Container], old: list[core_v1.Container], path: Path, errors: Errors) -> bool:
    if len(new) != len(old):
        errors.append(forbidden(path, "pod updates may not add or remove containers"))
        return False
    for i, container in enumerate(new):
        image = container.get("image", "")
        if not image:
            errors.append(required(path.index(i).child("image")))
        if image != image.strip():
            text = "must not have leading or trailing whitespace"
            errors.append(invalid(path.index(i).child("image"), image, text))
    return True


def _check_deadline(spec: core_v1.PodSpec, old_spec: core_v1.PodSpec, errors: Errors) -> bool:
    new, old = spec.get("activeDeadlineSeconds"), old_spec.get("activeDeadlineSeconds")
    at = _SPEC.child("activeDeadlineSeconds")
    if new is None:
        if old is not None:
            errors.append(invalid(at, None, "must not update from a positive integer to nil value"))
        return True
    if not 0 <= new <= _INT32_MAX:
        errors.append(invalid(at, new, f"must be between 0 and {_INT32_MAX}, inclusive"))
        return False
    if old is not None and old < new:
        errors.append(invalid(at, new, "must be less than or equal to previous value"))
        return False
    return True


def _without_seconds(toleration: core_v1.Toleration) -> Object:
    return {name: value for name, value in toleration.items() if name != "tolerationSeconds" and value}


def _check_tolerations(spec: core_v1.PodSpec, old_spec: core_v1.PodSpec, errors: Errors, options: PodOptions) -> None:
    new, path = spec.get("tolerations") or [], _SPEC.child("tolerations")
    known = [_without_seconds(toleration) for toleration in new]
    if any(_without_seconds(old) not in known for old in old_spec.get("tolerations") or ()):
        errors.append(forbidden(path, "existing toleration can not be modified except its tolerationSeconds"))
        return
    validate_tolerations(new, path, errors, options)


def _check_gates(spec: core_v1.PodSpec, old_spec: core_v1.PodSpec, errors: Errors) -> None:
    known = {gate.get("name", "") for gate in old_spec.get("schedulingGates") or ()}
    for i, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate.get("name", "")
        if name not in known:
            at = _SPEC.child("schedulingGates").index(i).child("name")
            errors.append(forbidden(at, f"only deletion is allowed, but found new scheduling gate '{name}'"))


def _check_rest(spec: Object, old_spec: Object, errors: Errors) -> None:
    """Check that only mutable fields changed."""
    munged = dict(spec)
    for kind in ("containers", "initContainers"):
        if kind in spec:
            pairs = zip(spec[kind], old_spec.get(kind) or (), strict=True)
            munged[kind] = [{**new, "image": old.get("image", "")} for new, old in pairs]
    for name in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        set_or_drop(munged, name, old_spec.get(name))
    old_grace = old_spec.get("terminationGracePeriodSeconds", 0)
    if old_grace < 0 and munged.get("terminationGracePeriodSeconds") == 1:
        munged["terminationGracePeriodSeconds"] = old_grace
    if old_spec.get("schedulingGates"):
        _check_gated(munged, old_spec, errors)
    if not same(munged, old_spec):
        text = f"pod updates may not change fields other than {_UPDATABLE}\n{difference(old_spec, munged)}"
        errors.append(forbidden(_SPEC, text))


def _check_gated(munged: Object, old_spec: Object, errors: Errors) -> None:
    """Check a pod with scheduling gates: an update may narrow the set of its nodes.

    Undo these changes in `munged`, so that the comparison of the other fields does not see them.
    """
    new, old = munged.get("nodeSelector") or {}, old_spec.get("nodeSelector") or {}
    if any(new.get(key) != value for key, value in old.items()):
        text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.append(invalid(_SPEC.child("nodeSelector"), new, text))
    set_or_drop(munged, "nodeSelector", old_spec.get("nodeSelector"))
    new_affinity, old_affinity = munged.get("affinity") or {}, old_spec.get("affinity") or {}
    new_node, old_node = new_affinity.get("nodeAffinity"), old_affinity.get("nodeAffinity")
    if same(new_node, old_node):
        return
    _check_node_affinity(new_node or {}, old_node or {}, errors)
    restored = dict(new_affinity)
    set_or_drop(restored, "nodeAffinity", old_node)
    set_or_drop(munged, "affinity", restored or old_spec.get("affinity"))


def _check_node_affinity(new: Object, old: Object, errors: Errors) -> None:
    old_terms = (old.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    new_terms = (new.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    at = _SPEC.child("affinity", "nodeAffinity", _REQUIRED, "nodeSelectorTerms")
    if old_terms and len(old_terms) != len(new_terms):
        text = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        errors.append(invalid(at, new_terms, text))
        return
    for i, (old_term, new_term) in enumerate(zip(old_terms, new_terms, strict=False)):
        if not _only_additions(new_term, old_term):
            text = "only additions are allowed (no mutations or deletions)"
            errors.append(invalid(at.index(i), new_term, text))


def _only_additions(new: Object, old: Object) -> bool:
    pairs = [(new.get(name) or [], old.get(name) or []) for name in ("matchExpressions", "matchFields")]
    if not any(old_items for _, old_items in pairs):
        return not any(new_items for new_items, _ in pairs)
    return all(same(new_items[: len(old_items)], old_items) for new_items, old_items in pairs)
