"""The approval subresource of certificate signing requests.

Source: kubernetes pkg/registry/certificates/certificates/strategy.go (1.36).
"""

from sampan.core.field import FieldError
from sampan.core.object import Object
from sampan.registry.strategies.certificates.csr import (
    CertificateSigningRequestStrategy,
    check_request,
    check_update,
    fill_condition_times,
)
from sampan.registry.strategy import Context


class ApprovalStrategy(CertificateSigningRequestStrategy):
    """PUT/PATCH certificatesigningrequests/NAME/approval changes the conditions of the status alone."""

    keeps_status_on_update = False

    def prepare_for_update(self, ctx: Context, obj: Object, old: Object) -> None:
        """Spec and certificate stay; times that are left out are filled in."""
        obj["spec"] = old["spec"]
        status = obj.setdefault("status", {})
        certificate = (old.get("status") or {}).get("certificate")
        if certificate is None:
            status.pop("certificate", None)
        else:
            status["certificate"] = certificate
        fill_condition_times(obj, old)

    def validate_update(self, ctx: Context, obj: Object, old: Object) -> list[FieldError]:
        """The rules of the request; approvals may be added here, and nowhere else."""
        errors: list[FieldError] = []
        check_request(obj, old, errors)
        check_update(obj, old, errors, approval=True, certificate=False)
        return errors
