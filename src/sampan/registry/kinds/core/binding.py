"""Bindings, by which a scheduler assigns a pod to a node.

Source: pkg/registry/core/pod/storage/storage.go BindingREST, pkg/apis/core/validation/validation.go (1.36).
"""

from typing import Final

from sampan.core.errors import bad_request, conflict
from sampan.core.field import FieldError, Path, required
from sampan.core.gvk import GroupResource
from sampan.core.object import Object
from sampan.registry.kind import Kind
from sampan.registry.kinds.pod_spec.prepare import set_condition
from sampan.registry.rules.fields import Errors, not_supported
from sampan.registry.strategy import Context, Strategy

_BINDINGS = GroupResource("", "pods/binding")
_PODS = GroupResource("", "pods")
_TARGET = Path("target")


def validate_binding(binding: Object) -> list[FieldError]:
    """Return the faults of a Binding. Kubernetes returns them as a plain 500 with their texts."""
    errors: list[FieldError] = []
    target = binding.get("target") or {}
    kind = target.get("kind", "")
    if kind and kind != "Node":
        errors.append(not_supported(_TARGET.child("kind"), kind, ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(required(_TARGET.child("name")))
    return errors


def check_binding_name(name: str, binding: Object) -> None:
    """Check that the name in the URL is that of the binding. Raises `StatusError` 400."""
    if (binding.get("metadata") or {}).get("name", "") != name:
        raise bad_request("name in URL does not match name in Binding object")


def apply_binding(pod: Object, binding: Object, now: str) -> None:
    """Assign the pod to the binding's node, in place: node, condition, annotations and labels.

    `now` is an RFC 3339 time. Raises `StatusError` 409 if the pod has another UID, is being deleted, is already
    assigned, or has scheduling gates.
    """
    metadata, spec, own = pod["metadata"], pod["spec"], binding.get("metadata") or {}
    name = metadata["name"]
    problem = _problem(metadata, spec, own)
    if problem:
        raise conflict(_PODS if problem.startswith("Precondition") else _BINDINGS, name, problem)
    spec["nodeName"] = (binding.get("target") or {}).get("name", "")
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    for field in ("annotations", "labels"):
        if own.get(field):
            metadata[field] = {**(metadata.get(field) or {}), **own[field]}
    set_condition(status, "PodScheduled", "True", now)


def _problem(metadata: Object, spec: Object, own: Object) -> str:
    name = metadata["name"]
    if own.get("uid") and own["uid"] != metadata.get("uid"):
        return f"Precondition failed: UID in precondition: {own['uid']}, UID in object meta: {metadata.get('uid', '')}"
    version = own.get("resourceVersion")
    if version and metadata.get("resourceVersion") and version != metadata["resourceVersion"]:
        return (
            f"Precondition failed: ResourceVersion in precondition: {version}, "
            f"ResourceVersion in object meta: {metadata['resourceVersion']}"
        )
    if metadata.get("deletionTimestamp"):
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{spec["nodeName"]}"'
    return f"pod {name} has non-empty .spec.schedulingGates" if spec.get("schedulingGates") else ""


class BindingStrategy(Strategy):
    """Strategy of bindings, which are validated but never stored."""

    has_generation = False

    def check(self, ctx: Context, obj: Object, errors: Errors) -> None:
        errors.extend(validate_binding(obj))


KINDS: Final = (Kind("", "bindings", BindingStrategy()),)
