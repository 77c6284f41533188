"""`Approval`: reviews the permission of a requester, and approves a request.

Source: kubernetes pkg/controller/certificates/approver/sarapprove.go (1.36).
"""

from __future__ import annotations

from typing import Any

from sampan.client import Conflict, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS
from sampan.core.time import timestamp
from sampan.kinds import authorization_v1, certificates_v1


class NotRecognized(Exception):
    """The request cannot be approved automatically. A retry may find new permissions."""


class Approval:
    """Approves CertificateSigningRequests."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._requests = client.resource(CERTIFICATE_SIGNING_REQUESTS)
        self._reviews = client.direct.resource(SUBJECT_ACCESS_REVIEWS)

    async def may(self, csr: certificates_v1.CertificateSigningRequest, kind: str) -> bool:
        """Return True if the requester may create this subresource of requests. Raises `ApiError`."""
        spec = csr["spec"]
        attributes: authorization_v1.ResourceAttributes = {
            "group": CERTIFICATE_SIGNING_REQUESTS.gvr.group,
            "resource": CERTIFICATE_SIGNING_REQUESTS.gvr.resource,
            "subresource": kind,
            "verb": "create",
            "version": "*",
        }
        review: authorization_v1.SubjectAccessReviewSpec = {"resourceAttributes": attributes}
        if spec.get("username"):
            review["user"] = spec["username"]
        if spec.get("uid"):
            review["uid"] = spec["uid"]
        if spec.get("groups"):
            review["groups"] = spec["groups"]
        if spec.get("extra"):
            review["extra"] = spec["extra"]
        reviewed = await self._reviews.create(
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {}, "spec": review}
        )
        status = reviewed.get("status")
        return status is not None and bool(status.get("allowed"))

    async def approve(self, csr: certificates_v1.CertificateSigningRequest, message: str) -> None:
        """Approve a request. Do nothing if it has changed or is gone. Raises `ApiError`."""
        now = timestamp(self._clock)
        condition: certificates_v1.CertificateSigningRequestCondition = {
            "type": "Approved",
            "status": "True",
            "reason": "AutoApproved",
            "message": message,
            "lastUpdateTime": now,
            "lastTransitionTime": now,
        }
        status: certificates_v1.CertificateSigningRequestStatus = (csr.get("status") or {}).copy()
        status["conditions"] = [*(status.get("conditions") or ()), condition]
        approved: dict[str, Any] = {**csr, "status": status}
        try:
            await self._requests.subresource("approval").update(csr["metadata"]["name"], approved)
        except (Conflict, NotFound):
            return  # The event of that change queues the request again.
