"""`AccessReviews`: authenticates and authorizes HTTP requests with the API server's reviews.

A client sends a bearer token. The API server names its user (TokenReview), and decides whether the user may use the
verb on the path (SubjectAccessReview of a non-resource URL).

Guarantees: a decision is reused for a bounded time, also for clients that repeat their requests. At most `_REVIEWS_MAX`
reviews run at once, so that a flood of tokens does not become a flood of requests to the API server.
Source: controller-runtime pkg/metrics/filters/filters.go (0.24).
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from sampan.client.client import Client
from sampan.client.errors import ClientError
from sampan.core.clock import monotonic
from sampan.core.gvk import GroupVersionResource
from sampan.core.recent import Recent
from sampan.http.server import Request, Response
from sampan.operator.rights import Right, rights_on
from sampan.resource import Object, ResourceInfo

_log = logging.getLogger("sampan.metrics")

TOKEN_REVIEWS: Final = ResourceInfo(
    GroupVersionResource("authentication.k8s.io", "v1", "tokenreviews"), "TokenReview", namespaced=False
)
SUBJECT_ACCESS_REVIEWS: Final = ResourceInfo(
    GroupVersionResource("authorization.k8s.io", "v1", "subjectaccessreviews"), "SubjectAccessReview", namespaced=False
)
TOKEN_S: Final = 60.0
"""Time for which the user of a token is reused, and so is a refusal."""
ALLOWED_S: Final = 300.0
DENIED_S: Final = 30.0
_ENTRIES_MAX: Final = 256
_REVIEWS_MAX: Final = 4
_REVIEW_TIMEOUT_S: Final = 10.0
_TOKEN_BYTES_MAX: Final = 16_384


class _Decision(NamedTuple):
    until: float
    value: Any


class AccessReviews:
    """Decides about requests. `client` must not cache, and needs `create` of both kinds of reviews."""

    def __init__(self, client: Client, clock: Callable[[], float] = monotonic) -> None:
        quick = client.with_defaults(request_timeout_s=_REVIEW_TIMEOUT_S)
        self._tokens = quick.resource(TOKEN_REVIEWS)
        self._accesses = quick.resource(SUBJECT_ACCESS_REVIEWS)
        self._clock = clock
        self._users: Recent[bytes, _Decision] = Recent(_ENTRIES_MAX, TOKEN_S, clock)
        self._rights: Recent[tuple[bytes, str, str], _Decision] = Recent(_ENTRIES_MAX, ALLOWED_S, clock)
        self._reviews = asyncio.Semaphore(_REVIEWS_MAX)

    def rights(self) -> list[Right]:
        """Return the rights that the reviews need."""
        return [*rights_on(TOKEN_REVIEWS, ("create",)), *rights_on(SUBJECT_ACCESS_REVIEWS, ("create",))]

    async def refusal(self, request: Request) -> Response | None:
        """Return the response to a request that is refused, else None."""
        token = _bearer_token(request.headers)
        if not token:
            return Response(401, b"Unauthorized\n", headers={"www-authenticate": "Bearer"})
        key = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        try:
            user = await self._user(key, token)
        except ClientError as error:
            _log.warning("cannot check a token; may this operator create tokenreviews? %s", error)
            return Response(500, b"Authentication failed\n")
        if user is None:
            return Response(401, b"Unauthorized\n", headers={"www-authenticate": "Bearer"})
        name = str(user.get("username", ""))
        try:
            allowed = await self._allowed(key, user, request.method.lower(), request.path)
        except ClientError as error:
            _log.warning("cannot check access; may this operator create subjectaccessreviews? %s", error)
            return Response(500, f"Authorization for user {name} failed\n".encode())
        return None if allowed else Response(403, f"Authorization denied for user {name}\n".encode())

    async def _user(self, key: bytes, token: str) -> Mapping[str, Any] | None:
        known = self._users.get(key)
        if known is not None and known.until > self._clock():
            user: Mapping[str, Any] | None = known.value
            return user
        async with self._reviews:
            status = _status_of(await self._tokens.create(_review("authentication.k8s.io", "TokenReview", token=token)))
        user = (status.get("user") or {}) if status.get("authenticated") is True else None
        self._users.put(key, _Decision(self._clock() + TOKEN_S, user))
        return user

    async def _allowed(self, key: bytes, user: Mapping[str, Any], verb: str, path: str) -> bool:
        right = (key, verb, path)
        known = self._rights.get(right)
        if known is not None and known.until > self._clock():
            return bool(known.value)
        spec = {name: user[name] for name in ("uid", "groups", "extra") if user.get(name)}
        attributes = {"verb": verb, "path": path}
        review = _review(
            "authorization.k8s.io",
            "SubjectAccessReview",
            user=user.get("username", ""),
            nonResourceAttributes=attributes,
            **spec,
        )
        async with self._reviews:
            status = _status_of(await self._accesses.create(review))
        allowed = status.get("allowed") is True and status.get("denied") is not True
        self._rights.put(right, _Decision(self._clock() + (ALLOWED_S if allowed else DENIED_S), allowed))
        return allowed


def _review(group: str, kind: str, **spec: Any) -> Object:
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {}, "spec": spec}


def _status_of(review: Object) -> Mapping[str, Any]:
    status: Mapping[str, Any] = review.get("status") or {}
    return status


def _bearer_token(headers: Mapping[str, str]) -> str:
    """Return the token of the header `authorization`; empty if there is none, or if it is too long."""
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and len(token) <= _TOKEN_BYTES_MAX else ""
