"""`DelegatedAuthorization`: authorizes users of a node's server through SubjectAccessReview.

Source: kubelet cmd/kubelet/app/auth.go, apiserver plugin/pkg/authorizer/webhook (1.36).
"""

from __future__ import annotations

from typing import Final

from sampan.client import Client
from sampan.component_base.resources import SUBJECT_ACCESS_REVIEWS
from sampan.core.time import Clock
from sampan.kinds import authorization_v1
from sampan.node.server.trust.attributes import SubresourceAttributes
from sampan.node.server.trust.review_cache import ReviewCache
from sampan.node.server.trust.user import User

ALLOWED_TTL_S: Final = 300.0
DENIED_TTL_S: Final = 30.0
MASTERS: Final = "system:masters"
"""Group that is always authorized, even if the API server cannot be reached."""


class DelegatedAuthorization:
    """Authorizes requests. `client`: reviews permissions; None to authorize only `MASTERS`."""

    def __init__(self, client: Client | None, node_name: str, clock: Clock) -> None:
        """`node_name`: name of the Node in reviews; empty for all Nodes, if several share a server."""
        self._reviews = client.resource(SUBJECT_ACCESS_REVIEWS) if client is not None else None
        self._node_name = node_name
        self._allowed: ReviewCache[bool] = ReviewCache(clock)

    async def allows(self, user: User, attributes: SubresourceAttributes) -> bool:
        """Return whether one of the subresources is allowed. Raises `ClientError` if the review fails."""
        if MASTERS in user.groups:
            return True
        for subresource in attributes.subresources:
            if await self._allows(user, attributes.verb, subresource):
                return True
        return False

    async def _allows(self, user: User, verb: str, subresource: str) -> bool:
        if self._reviews is None:
            return False
        extra = tuple(sorted(user.extra.items()))
        key = (user.name, user.groups, user.uid, extra, verb, subresource)
        known = self._allowed.get(key)
        if known is not None:
            return known
        attributes: authorization_v1.ResourceAttributes = {
            "verb": verb,
            "version": "v1",
            "resource": "nodes",
            "subresource": subresource,
        }
        if self._node_name:
            attributes["name"] = self._node_name
        spec: authorization_v1.SubjectAccessReviewSpec = {
            "user": user.name,
            "groups": list(user.groups),
            "uid": user.uid,
            "extra": {name: list(values) for name, values in extra},
            "resourceAttributes": attributes,
        }
        reviewed = await self._reviews.create(
            {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "metadata": {}, "spec": spec}
        )
        status = reviewed.get("status")
        allowed = status is not None and bool(status.get("allowed"))
        self._allowed.put(key, allowed, ALLOWED_TTL_S if allowed else DENIED_TTL_S)
        return allowed
