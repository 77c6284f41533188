"""`Approval`: reviews the permission of a requester, and approves a request.

Source: kubernetes pkg/controller/certificates/approver/sarapprove.go (1.36).
"""

from sampan.client import Conflict, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS
from sampan.core.time import timestamp
from sampan.resource import Object


class NotRecognized(Exception):
    """The request cannot be approved automatically. A retry may find new permissions."""


class Approval:
    """Approves CertificateSigningRequests."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._requests = client.resource(CERTIFICATE_SIGNING_REQUESTS)
        self._reviews = client.direct.resource(SUBJECT_ACCESS_REVIEWS)

    async def may(self, csr: Object, kind: str) -> bool:
        """Return True if the requester may create this subresource of requests. Raises `ApiError`."""
        spec = csr["spec"]
        attributes = {
            "group": CERTIFICATE_SIGNING_REQUESTS.gvr.group,
            "resource": CERTIFICATE_SIGNING_REQUESTS.gvr.resource,
            "subresource": kind,
            "verb": "create",
            "version": "*",
        }
        identity = {"user": "username", "uid": "uid", "groups": "groups", "extra": "extra"}
        requester = {name: spec[field] for name, field in identity.items() if spec.get(field)}
        review = {
            "apiVersion": SUBJECT_ACCESS_REVIEWS.api_version,
            "kind": SUBJECT_ACCESS_REVIEWS.kind,
            "spec": {**requester, "resourceAttributes": attributes},
        }
        reviewed = await self._reviews.create(review)
        return bool((reviewed.get("status") or {}).get("allowed"))

    async def approve(self, csr: Object, message: str) -> None:
        """Approve a request. Do nothing if it has changed or is gone. Raises `ApiError`."""
        now = timestamp(self._clock)
        condition = {"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}
        condition |= {"lastUpdateTime": now, "lastTransitionTime": now}
        status = csr.get("status") or {}
        approved = {**csr, "status": {**status, "conditions": [*(status.get("conditions") or ()), condition]}}
        try:
            await self._requests.subresource("approval").update(csr["metadata"]["name"], approved)
        except (Conflict, NotFound):
            return  # The event of that change queues the request again.
