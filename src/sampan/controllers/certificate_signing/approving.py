"""The approver: approves kubelets' requests for client certificates, if the requester is authorized for them.

Source: kubernetes pkg/controller/certificates/approver/sarapprove.go (1.36).
"""

from __future__ import annotations

from typing import Final

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CERTIFICATE_SIGNING_REQUESTS
from sampan.controllers.certificate_signing.approval import Approval, NotRecognized
from sampan.controllers.certificate_signing.rules import (
    KUBELET_CLIENT,
    common_name,
    fault,
    has,
    is_issued,
    request_of,
)
from sampan.kinds import certificates_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result

NAME: Final = "certificatesigningrequest-approving-controller"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    (Builder(context.manager).named(NAME).for_(CERTIFICATE_SIGNING_REQUESTS).complete(ApprovingController(context)))


class ApprovingController:
    """Approves requests of kubelets for client certificates."""

    def __init__(self, context: ControllerContext) -> None:
        self._requests = context.manager.client.resource(CERTIFICATE_SIGNING_REQUESTS)
        self._approval = Approval(context)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one request. Raises `NotRecognized`, `ApiError`, `TransportError`."""
        csr = await self._requests.find(request)
        if csr is None or is_issued(csr) or has(csr, "Approved") or has(csr, "Denied"):
            return None
        kinds = kinds_of(csr)
        for kind, description in kinds:
            if await self._approval.may(csr, kind):
                await self._approval.approve(
                    csr, f"Auto approving {description} certificate after SubjectAccessReview."
                )
                return None
        if kinds:
            tried = " ".join(kind for kind, _ in kinds)
            raise NotRecognized(
                f'recognized csr "{request.name}" as [{tried}] but subject access review was not approved'
            )
        return None


def kinds_of(csr: certificates_v1.CertificateSigningRequest) -> list[tuple[str, str]]:
    """Return the kinds of certificate that a request qualifies for.

    Each is the subresource that the requester must be allowed to create, and its description for messages.
    """
    if csr["spec"].get("signerName") != KUBELET_CLIENT:
        return []
    try:
        x509_request = request_of(csr)
    except ValueError:
        return []
    if fault(csr, x509_request):
        return []
    any_node = ("nodeclient", "kubelet client")
    own = common_name(x509_request) == csr["spec"].get("username")
    return [("selfnodeclient", "self kubelet client"), any_node] if own else [any_node]
