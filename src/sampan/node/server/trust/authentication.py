"""`DelegatedAuthentication`: identifies a user by a client certificate, or by a token through TokenReview.

Source: kubelet cmd/kubelet/app/auth.go, apiserver pkg/authentication/token/cache (1.36).
"""

import hashlib
import logging
from typing import Final

from sampan.client import Client, ClientError
from sampan.core.gvk import GroupVersionResource
from sampan.core.time import Clock
from sampan.http.server import Request
from sampan.node.server.trust.review_cache import ReviewCache
from sampan.node.server.trust.user import User, user_of_certificate, user_of_info
from sampan.resource import ResourceInfo

_log = logging.getLogger("sampan.node.server")

TOKEN_TTL_S: Final = 120.0
"""Time for which a valid token is cached."""
_TOKEN_REVIEWS: Final = ResourceInfo(
    GroupVersionResource("authentication.k8s.io", "v1", "tokenreviews"), "TokenReview", False
)


class DelegatedAuthentication:
    """Authenticates requests. `client`: reviews tokens; None to refuse tokens."""

    def __init__(self, client: Client | None, clock: Clock) -> None:
        self._reviews = client.resource(_TOKEN_REVIEWS) if client is not None else None
        self._known: ReviewCache[User] = ReviewCache(clock)

    async def user_of(self, request: Request) -> User | None:
        """Return the user; None if the request cannot be authenticated."""
        if request.client_certificate:
            return user_of_certificate(request.client_certificate)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip()
        if self._reviews is None or scheme.lower() != "bearer" or not token:
            return None
        key = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        return self._known.get(key) or await self._review(key, token)

    async def _review(self, key: bytes, token: str) -> User | None:
        assert self._reviews is not None
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        try:
            status = (await self._reviews.create(review)).get("status") or {}
        except ClientError as error:
            _log.warning("cannot review a token: %s", error)
            return None
        if not status.get("authenticated"):
            return None
        user = user_of_info(status.get("user") or {})
        self._known.put(key, user, TOKEN_TTL_S)
        return user
