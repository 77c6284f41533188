"""Groups of the Kubernetes community (`*.k8s.io`, `*.kubernetes.io`): CRDs in them need an approval.

Source: apiextensions pkg/apihelpers/helpers.go, pkg/apis/apiextensions/validation/validation.go (1.36).
"""

from sampan.core.addresses.url import split_url
from sampan.core.field import FieldError, Path, invalid, quote, required
from sampan.core.object import Object

APPROVAL_ANNOTATION = "api-approved.kubernetes.io"
_APPROVAL_URL = "https://github.com/kubernetes/enhancements/pull/1111"


def is_protected_group(group: str) -> bool:
    """Return True for a group of the Kubernetes community, whose APIs need an approval."""
    return group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))


def approval_state(crd: Object) -> tuple[str, str]:
    """Return the state (`Missing`, `Bypassed`, `Approved` or `Invalid`) and its reason."""
    value = (crd["metadata"].get("annotations") or {}).get(APPROVAL_ANNOTATION, "")
    annotation = quote(APPROVAL_ANNOTATION)
    if not value:
        return "Missing", f"protected groups must have approval annotation {annotation}, see {_APPROVAL_URL}"
    if value.startswith("unapproved"):
        return "Bypassed", f"not approved: {quote(value)}"
    try:
        parts = split_url(value)
        is_url = bool(parts.scheme and parts.netloc)
    except ValueError:
        is_url = False
    if is_url:
        return "Approved", f"approved in {value}"
    return "Invalid", (
        f"protected groups must have approval annotation {annotation} with either a URL or a reason starting with "
        f'"unapproved", see {_APPROVAL_URL}'
    )


def approval_faults(crd: Object, old: Object | None) -> list[FieldError]:
    """Return a fault if the approval is missing or unreadable. An update may keep the state of the old CRD."""
    if not is_protected_group(crd["spec"].get("group", "")):
        return []
    state, reason = approval_state(crd)
    if old is not None and approval_state(old)[0] == state:
        return []
    path = Path("metadata", "annotations").key(APPROVAL_ANNOTATION)
    if state == "Missing":
        return [required(path, reason)]
    if state == "Invalid":
        return [invalid(path, crd["metadata"]["annotations"][APPROVAL_ANNOTATION], reason)]
    return []
