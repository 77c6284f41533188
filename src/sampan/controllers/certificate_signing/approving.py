"""The loop that approves what kubelets ask for as clients, if they may ask for that.

Source: kubernetes pkg/controller/certificates/approver/sarapprove.go (1.36).
"""

from typing import Final

from sampan.client import Conflict, NotFound
from sampan.controllers.certificate_signing.rules import (
    KUBELET_CLIENT,
    common_name,
    fault,
    has,
    is_issued,
    request_of,
)
from sampan.core.time import timestamp
from sampan.loops.context import ControllerContext
from sampan.loops.resources import CERTIFICATE_SIGNING_REQUESTS, SUBJECT_ACCESS_REVIEWS
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result
from sampan.resource import Object

NAME: Final = "certificatesigningrequest-approving-controller"


class NotRecognized(Exception):
    """Who asks may not have it approved by itself; somebody may be given the right yet."""


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    (Builder(context.manager).named(NAME).for_(CERTIFICATE_SIGNING_REQUESTS).complete(ApprovingController(context)))


class ApprovingController:
    """Approves."""

    def __init__(self, context: ControllerContext) -> None:
        client = context.manager.client
        self._clock = context.clock
        self._requests = client.resource(CERTIFICATE_SIGNING_REQUESTS)
        self._reviews = client.direct.resource(SUBJECT_ACCESS_REVIEWS)

    async def reconcile(self, request: Request) -> Result | None:
        """Reconcile one request. Raises `NotRecognized`, `ApiError`, `TransportError`."""
        csr = await self._requests.find(request)
        if csr is None or is_issued(csr) or has(csr, "Approved") or has(csr, "Denied"):
            return None
        kinds = kinds_of(csr)
        for kind, words in kinds:
            if await self._may(csr, kind):
                await self._approve(csr, f"Auto approving {words} certificate after SubjectAccessReview.")
                return None
        if kinds:
            tried = " ".join(kind for kind, _ in kinds)
            raise NotRecognized(
                f'recognized csr "{request.name}" as [{tried}] but subject access review was not approved'
            )
        return None

    async def _may(self, csr: Object, kind: str) -> bool:
        spec = csr["spec"]
        attributes = {
            "group": CERTIFICATE_SIGNING_REQUESTS.gvr.group,
            "resource": CERTIFICATE_SIGNING_REQUESTS.gvr.resource,
            "subresource": kind,
            "verb": "create",
            "version": "*",
        }
        who = {"user": "username", "uid": "uid", "groups": "groups", "extra": "extra"}
        asked = {name: spec[field] for name, field in who.items() if spec.get(field)}
        review = {
            "apiVersion": SUBJECT_ACCESS_REVIEWS.api_version,
            "kind": SUBJECT_ACCESS_REVIEWS.kind,
            "spec": {**asked, "resourceAttributes": attributes},
        }
        answer = await self._reviews.create(review)
        return bool((answer.get("status") or {}).get("allowed"))

    async def _approve(self, csr: Object, message: str) -> None:
        now = timestamp(self._clock)
        condition = {"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}
        condition |= {"lastUpdateTime": now, "lastTransitionTime": now}
        status = csr.get("status") or {}
        approved = {**csr, "status": {**status, "conditions": [*(status.get("conditions") or ()), condition]}}
        try:
            await self._requests.subresource("approval").update(csr["metadata"]["name"], approved)
        except (Conflict, NotFound):
            return  # What has changed in it brings it here again.


def kinds_of(csr: Object) -> list[tuple[str, str]]:
    """What a request may be approved as: the subresource that one must be allowed to create, and in words."""
    if csr["spec"].get("signerName") != KUBELET_CLIENT:
        return []
    try:
        asked = request_of(csr)
    except ValueError:
        return []
    if fault(csr, asked):
        return []
    any_node = ("nodeclient", "kubelet client")
    own = common_name(asked) == csr["spec"].get("username")
    return [("selfnodeclient", "self kubelet client"), any_node] if own else [any_node]
