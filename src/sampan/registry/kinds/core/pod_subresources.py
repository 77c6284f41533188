"""Subresources `ephemeralcontainers` and `resize` of pods: each changes one part of the spec.

Source: pkg/registry/core/pod/strategy.go, pkg/apis/core/validation/validation.go (1.36).
"""

from sampan.core.field import FieldError, Path, forbidden, invalid
from sampan.core.object import Object, set_or_drop
from sampan.registry.kinds.core.pod_qos import compute_qos, pod_qos
from sampan.registry.kinds.core.pod_update import update_options
from sampan.registry.kinds.core.valid_pod import validate_pod
from sampan.registry.kinds.pod_spec.annotations import MIRROR, validate_annotation_changes
from sampan.registry.kinds.pod_spec.prepare import drop_disabled_fields
from sampan.registry.rules import feature_gates as gates
from sampan.registry.rules.fields import NOWHERE, difference
from sampan.registry.rules.semantics import same

Errors = list[FieldError]
_SPEC = Path("spec")
_KEPT_METADATA = (
    "deletionTimestamp",
    "ownerReferences",
    "generation",
    "selfLink",
    "labels",
    "annotations",
    "finalizers",
)


def prepare_ephemeral_containers(pod: Object, old: Object) -> None:
    """Take only the ephemeral containers from `pod`, in place. If they changed, the generation grows."""
    containers = pod["spec"].get("ephemeralContainers")
    spec = dict(old["spec"])
    set_or_drop(spec, "ephemeralContainers", containers)
    _replace(pod, old, spec)


def prepare_resize(pod: Object, old: Object) -> None:
    """Take only resources and resize policies from `pod`, in place. If they changed, the generation grows.

    If containers were added, removed or renamed, nothing is restored, so that validation reports the change.
    """
    new_spec, old_spec = pod["spec"], old["spec"]
    kinds = ("containers", "initContainers")
    if any(len(new_spec.get(kind) or ()) != len(old_spec.get(kind) or ()) for kind in kinds):
        return
    spec = dict(old_spec)
    for kind in kinds:
        if kind in old_spec:
            spec[kind] = _resized(new_spec[kind], old_spec[kind])
    if gates.IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING:
        set_or_drop(spec, "resources", new_spec.get("resources"))
    _replace(pod, old, spec)


def _resized(new: list[Object], old: list[Object]) -> list[Object]:
    if any(one.get("name") != other.get("name") for one, other in zip(new, old, strict=True)):
        return new
    merged = []
    for one, other in zip(new, old, strict=True):
        container = dict(other)
        for name in ("resources", "resizePolicy"):
            set_or_drop(container, name, one.get(name))
        merged.append(container)
    return merged


def _replace(pod: Object, old: Object, spec: Object) -> None:
    """Replace `pod` by the stored pod with another spec. Only metadata that every subresource may set is kept."""
    metadata, old_metadata = pod["metadata"], old["metadata"]
    for name in _KEPT_METADATA:
        set_or_drop(metadata, name, old_metadata.get(name))
    pod["spec"] = spec
    set_or_drop(pod, "status", old.get("status"))
    drop_disabled_fields(spec, old["spec"])
    if not same(spec, old["spec"]):
        metadata["generation"] = old_metadata.get("generation", 0) + 1


def validate_ephemeral_containers_update(pod: Object, old: Object) -> list[FieldError]:
    """Return the faults of an update of the ephemeral containers: they can be added, not changed or removed."""
    errors: Errors = []
    validate_pod(pod, errors, update_options(old))
    new_annotations = pod["metadata"].get("annotations") or {}
    old_annotations = old["metadata"].get("annotations") or {}
    validate_annotation_changes(new_annotations, old_annotations, Path("metadata", "annotations"), errors)
    if MIRROR in old_annotations:
        return [forbidden(NOWHERE, "static pods do not support ephemeral containers")]
    known = {container.get("name", ""): container for container in pod["spec"].get("ephemeralContainers") or ()}
    at = _SPEC.child("ephemeralContainers")
    for container in old["spec"].get("ephemeralContainers") or ():
        name = container.get("name", "")
        new = known.get(name)
        if new is None:
            errors.append(forbidden(at, f'existing ephemeral containers "{name}" may not be removed\n'))
        elif not same(new, container):
            changes = difference(container, new)
            errors.append(forbidden(at, f'existing ephemeral containers "{name}" may not be changed\n{changes}'))
    return errors


def validate_resize(pod: Object, old: Object) -> list[FieldError]:
    """Return the faults of a resize: only amounts of cpu and memory may change, and not the QoS class."""
    errors: Errors = []
    spec, old_spec = pod["spec"], old["spec"]
    validate_pod(pod, errors, update_options(old))
    if MIRROR in (old["metadata"].get("annotations") or ()):
        return [forbidden(NOWHERE, "static pods cannot be resized")]
    if (old_spec.get("os") or {}).get("name") == "windows":
        return [forbidden(NOWHERE, "windows pods cannot be resized")]
    if pod_qos(old) != compute_qos(spec):
        shown = (pod.get("status") or {}).get("qosClass", "")
        errors.append(invalid(_SPEC, shown, "Pod QOS Class may not change as a result of resizing"))
    if not _is_supported(old):
        errors.append(forbidden(_SPEC, "Pod running on node without support for resize"))
    munged = dict(spec)
    if _has_pod_resources(old_spec) or _has_pod_resources(spec):
        _check_pod_level(munged, old_spec, errors)
    if not _same_containers(spec, old_spec, errors):
        return errors
    for kind in ("initContainers", "containers"):
        _check_removed(spec, old_spec, kind, errors)
    munged["containers"] = _check_containers(spec, old_spec, errors)
    if spec.get("initContainers"):
        munged["initContainers"] = _check_init_containers(spec, old_spec, errors)
    if not errors and not same(munged, old_spec):
        errors.append(forbidden(_SPEC, "only cpu and memory resources are mutable"))
    return errors


def _is_supported(pod: Object) -> bool:
    for container in (pod.get("status") or {}).get("containerStatuses") or ():
        if (container.get("state") or {}).get("running") is not None:
            return container.get("resources") is not None
    return True


def _has_pod_resources(spec: Object) -> bool:
    resources = spec.get("resources") or {}
    return bool(resources.get("requests") or resources.get("limits"))


def _removed(new: Object, old: Object) -> bool:
    return not new.keys() >= old.keys()


def _check_pod_level(munged: Object, old_spec: Object, errors: Errors) -> None:
    new, old = munged.get("resources"), old_spec.get("resources")
    at = _SPEC.child("resources")
    if old is not None and new is None:
        errors.append(forbidden(at, "pod-level resources cannot be removed"))
        return
    new = new or {}
    for kind, word in (("requests", "requests"), ("limits", "limits")):
        if old is not None and _removed(new.get(kind) or {}, old.get(kind) or {}):
            errors.append(forbidden(at.child(kind), f"pod-level resource {word} cannot be removed"))
    restored = _without_compute(new, old or {})
    set_or_drop(munged, "resources", restored if old is not None or restored else None)
    if not same(munged.get("resources"), old):
        errors.append(forbidden(_SPEC, "only cpu and memory resources are mutable at pod-level"))


def _without_compute(new: Object, old: Object) -> Object:
    """Return the new resources with the old amounts of cpu and memory."""
    result = dict(new)
    for kind in ("limits", "requests"):
        amounts = {n: v for n, v in (new.get(kind) or {}).items() if n not in ("cpu", "memory")}
        amounts |= {n: v for n, v in (old.get(kind) or {}).items() if n in ("cpu", "memory")}
        set_or_drop(result, kind, amounts or None)
    return result


def _same_containers(spec: Object, old_spec: Object, errors: Errors) -> bool:
    before = len(errors)
    for kind in ("containers", "initContainers"):
        new, old = spec.get(kind) or [], old_spec.get(kind) or []
        if len(new) != len(old):
            errors.append(forbidden(_SPEC.child(kind), f"{kind} may not be added or removed on resize"))
            continue
        for i, (one, other) in enumerate(zip(new, old, strict=True)):
            if one.get("name") != other.get("name"):
                at = _SPEC.child(kind).index(i).child("name")
                errors.append(forbidden(at, f"{kind} may not be renamed or reordered on resize"))
    return len(errors) == before


def _can_resize(kind: str, container: Object) -> bool:
    sidecar = container.get("restartPolicy") == "Always"
    return kind == "containers" or sidecar or gates.IN_PLACE_POD_VERTICAL_SCALING_INIT_CONTAINERS


def _check_removed(spec: Object, old_spec: Object, kind: str, errors: Errors) -> None:
    for i, (new, old) in enumerate(zip(spec.get(kind) or (), old_spec.get(kind) or (), strict=True)):
        if not _can_resize(kind, old):
            continue
        at = _SPEC.child(kind).index(i).child("resources")
        resources, old_resources = new.get("resources") or {}, old.get("resources") or {}
        for amounts in ("requests", "limits"):
            if _removed(resources.get(amounts) or {}, old_resources.get(amounts) or {}):
                errors.append(forbidden(at.child(amounts), f"resource {amounts} cannot be removed"))


def _restored(new: Object, old: Object) -> Object:
    resources = _without_compute(new.get("resources") or {}, old.get("resources") or {})
    resources.pop("claims", None)
    return {**new, "resources": resources}


def _check_containers(spec: Object, old_spec: Object, errors: Errors) -> list[Object]:
    restored = []
    for new, old in zip(spec.get("containers") or (), old_spec.get("containers") or (), strict=True):
        container = _restored(new, old)
        if not same(container, old):
            errors.append(forbidden(_SPEC, "only cpu and memory resources are mutable"))
        restored.append(container)
    return restored


_RESTARTING = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"


def _restarting(container: Object) -> list[Object]:
    return [
        policy for policy in container.get("resizePolicy") or () if policy.get("restartPolicy") == "RestartContainer"
    ]


def _check_init_containers(spec: Object, old_spec: Object, errors: Errors) -> list[Object]:
    restored = []
    for i, (new, old) in enumerate(zip(spec["initContainers"], old_spec["initContainers"], strict=True)):
        at, container = _SPEC.child("initContainers").index(i), new
        modified = not same(new, old)
        if _can_resize("initContainers", new):
            container = _restored(new, old)
            if not same(container, old):
                text = "only cpu and memory resources for init or sidecar containers are mutable"
                errors.append(forbidden(at, text))
            if modified and new.get("restartPolicy") != "Always":
                errors.extend(forbidden(at, _RESTARTING) for policy in _restarting(new))
        elif modified:
            errors.append(forbidden(_SPEC, "resources for non-sidecar init containers are immutable"))
        restored.append(container)
    return restored
