"""The signer: issues certificates for approved requests. All built-in signers use the same CA.

Source: kubernetes pkg/controller/certificates/signer/signer.go (1.36).
"""

from __future__ import annotations

import base64
from typing import Final

from sampan.client import Conflict, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CERTIFICATE_SIGNING_REQUESTS
from sampan.controllers.certificate_signing.issue import issue, lifetime
from sampan.controllers.certificate_signing.rules import SIGNERS, fault, has, is_issued, request_of
from sampan.controllers.status import status_of, write_status
from sampan.core.time import timestamp
from sampan.core.tls.certificates import KeyPair, read_key_pair
from sampan.kinds import certificates_v1
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result

NAME: Final = "certificatesigningrequest-signing-controller"


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager, if there is a CA. Raises `ValueError` for an invalid CA."""
    if not context.signing_certificate:
        return
    ca = read_key_pair(context.signing_certificate.encode(), context.signing_key.encode())
    (Builder(context.manager).named(NAME).for_(CERTIFICATE_SIGNING_REQUESTS).complete(SigningController(context, ca)))


class SigningController:
    """Signs approved requests of the built-in signers."""

    def __init__(self, context: ControllerContext, ca: KeyPair) -> None:
        self._clock = context.clock
        self._ca = ca
        self._requests = context.manager.client.resource(CERTIFICATE_SIGNING_REQUESTS)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one request. Raises `ApiError`, `TransportError`."""
        csr = await self._requests.find(request)
        if csr is None or csr["spec"].get("signerName") not in SIGNERS:
            return None
        # A certificate cannot be revoked, so all of these are checked before it is issued.
        if is_issued(csr) or not has(csr, "Approved") or has(csr, "Denied") or has(csr, "Failed"):
            return None
        try:
            # The resourceVersion is a precondition: an approver may have changed its decision since the read.
            await write_status(self._requests, csr, self._signed(csr), optimistic_lock=True)
        except (Conflict, NotFound):
            return None  # The event of that change queues the request again.
        return None

    def _signed(
        self, csr: certificates_v1.CertificateSigningRequest
    ) -> certificates_v1.CertificateSigningRequestStatus:
        """Return the status with a certificate, or with the condition Failed."""
        spec = csr["spec"]
        status: certificates_v1.CertificateSigningRequestStatus = status_of(csr)
        try:
            x509_request = request_of(csr)
            reason = fault(csr, x509_request)
            if reason:
                return self._failed(status, reason)
            age = lifetime(spec.get("expirationSeconds"))
            signed = issue(x509_request, spec.get("usages") or (), self._ca, self._clock.now(), age)
        except ValueError as error:
            return self._failed(status, f"unable to parse csr: {error}")
        return {**status, "certificate": base64.b64encode(signed).decode()}

    def _failed(
        self, status: certificates_v1.CertificateSigningRequestStatus, message: str
    ) -> certificates_v1.CertificateSigningRequestStatus:
        now = timestamp(self._clock)
        condition: certificates_v1.CertificateSigningRequestCondition = {
            "type": "Failed",
            "status": "True",
            "reason": "SignerValidationFailure",
            "message": message,
            "lastUpdateTime": now,
            "lastTransitionTime": now,
        }
        return {**status, "conditions": [*(status.get("conditions") or ()), condition]}
