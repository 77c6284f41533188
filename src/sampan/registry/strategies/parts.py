"""Strategies of subresources that are written as the object is: finalize, approval, ephemeralcontainers, resize."""

from sampan.core.field import FieldError, Path, forbidden, invalid, quote
from sampan.core.object import Object
from sampan.registry.strategies.core.podsubresources import (
    prepare_ephemeral_containers,
    prepare_resize,
    validate_ephemeral_containers_update,
    validate_resize,
)
from sampan.registry.strategy import Context, Strategy


def part_strategies() -> dict[tuple[str, str, str], Strategy]:
    """(group, resource, subresource) -> strategy."""
    return {
        ("", "namespaces", "finalize"): NamespaceFinalize(),
        ("", "pods", "ephemeralcontainers"): EphemeralContainers(),
        ("", "pods", "resize"): Resize(),
        ("certificates.k8s.io", "certificatesigningrequests", "approval"): CertificateApproval(),
    }


class NamespaceFinalize(Strategy):
    """PUT namespaces/NAME/finalize changes `spec.finalizers` alone. Source: registry/core/namespace/strategy.go
    (1.36).
    """

    has_generation = False

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """The status stays; metadata may not change here."""
        obj["metadata"] = {**old["metadata"], "resourceVersion": obj["metadata"].get("resourceVersion", "")}

    def pending_finalizers(self, obj: Object) -> bool:
        """A namespace is held by either kind of finalizer."""
        return bool(obj["metadata"].get("finalizers") or (obj.get("spec") or {}).get("finalizers"))

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """Names were checked with the metadata."""
        return []


class CertificateApproval(Strategy):
    """PUT certificatesigningrequests/NAME/approval sets the Approved and Denied conditions alone.

    Source: kubernetes pkg/registry/certificates/certificates/strategy.go (1.36).
    """

    has_generation = False
    keeps_status_on_update = False

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Everything but the approval conditions stays as it was."""
        wanted = (obj.get("status") or {}).get("conditions") or []
        old_status = old.get("status") or {}
        kept = [c for c in old_status.get("conditions") or [] if c.get("type") not in ("Approved", "Denied")]
        approvals = [c for c in wanted if c.get("type") in ("Approved", "Denied")]
        obj["spec"] = old["spec"]
        status = {**old_status, "conditions": [*kept, *approvals]}
        if not status["conditions"]:
            del status["conditions"]
        obj["status"] = status

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """The conditions' own rules."""
        return approval_faults(obj, old)


def approval_faults(obj: Object, old: Object) -> list[FieldError]:
    """Approved and Denied exclude each other, and neither is taken back."""
    path = Path("status", "conditions")
    types = [c.get("type") for c in obj.get("status", {}).get("conditions") or []]
    before = [c.get("type") for c in old.get("status", {}).get("conditions") or []]
    faults = []
    if "Approved" in types and "Denied" in types:
        faults.append(invalid(path, "Denied", "Approved and Denied conditions are mutually exclusive"))
    removed = [name for name in ("Approved", "Denied") if name in before and name not in types]
    faults += [forbidden(path, f"updates may not remove a condition of type {quote(name)}") for name in removed]
    return faults


class EphemeralContainers(Strategy):
    """PUT/PATCH pods/NAME/ephemeralcontainers adds ephemeral containers alone."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Everything else stays as it was."""
        prepare_ephemeral_containers(obj, old)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """The containers' rules, and that none was changed or removed."""
        return validate_ephemeral_containers_update(obj, old)


class Resize(Strategy):
    """PUT/PATCH pods/NAME/resize changes containers' resources alone."""

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Everything else stays as it was."""
        prepare_resize(obj, old)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """What may be resized, and to what."""
        return validate_resize(obj, old)
