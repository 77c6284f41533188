"""Conditions for the requirements on a CRD: approval of groups of the Kubernetes community, and structural schemas.

Source: apiextensions pkg/controller/{apiapproval,nonstructuralschema} (1.36).
"""

from sampan.core.field import FieldError, Path, aggregate, invalid
from sampan.core.object import Object
from sampan.registry.crd.conditions import make_condition, remove_condition, set_condition
from sampan.registry.crd.validation.approval import approval_state, is_protected_group
from sampan.schema.definition.structural_validation import structural_errors

_APPROVAL = "KubernetesAPIApprovalPolicyConformant"
_STRUCTURE = "NonStructuralSchema"
_REASONS = {
    "Missing": "MissingAnnotation",
    "Bypassed": "UnapprovedAnnotation",
    "Approved": "ApprovedAnnotation",
    "Invalid": "InvalidAnnotation",
}


def note_approval(crd: Object, now: str) -> None:
    """Set KubernetesAPIApprovalPolicyConformant, for groups of the Kubernetes community."""
    if not is_protected_group(crd["spec"]["group"]):
        remove_condition(crd, _APPROVAL)
        return
    state, message = approval_state(crd)
    set_condition(crd, make_condition(_APPROVAL, state == "Approved", _REASONS[state], message), now)


def note_structure(crd: Object, now: str) -> None:
    """Set NonStructuralSchema, for CRDs that were written through v1beta1."""
    faults = _violations(crd)
    if faults:
        set_condition(crd, make_condition(_STRUCTURE, True, "Violations", aggregate(faults)), now)
    else:
        remove_condition(crd, _STRUCTURE)


def _violations(crd: Object) -> list[FieldError]:
    spec = crd["spec"]
    if not spec.get("preserveUnknownFields"):
        return []
    faults = [invalid(Path("spec", "preserveUnknownFields"), True, "must be false")]
    for index, version in enumerate(spec.get("versions") or ()):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None:
            path = Path("spec", "versions").index(index).child("schema", "openAPIV3Schema")
            faults += structural_errors(schema, path)
    return faults
