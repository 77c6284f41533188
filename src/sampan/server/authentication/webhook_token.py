"""Webhook tokens: a TokenReview is sent to a webhook, and the response is cached.

Source: apiserver plugin/pkg/authenticator/token/webhook/webhook.go, pkg/util/webhook/webhook.go,
pkg/authentication/token/cache/cached_token_authenticator.go (1.36).
"""

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from sampan.core.clock import monotonic
from sampan.core.object import Object
from sampan.registry.webhook.client import Webhook
from sampan.registry.webhook.response import WebhookError
from sampan.registry.webhook.retry import Sleep, with_retries
from sampan.registry.webhook.review_body import BOOLEAN, STRING, STRINGS, NotDecodableError, ReviewReader, struct
from sampan.schema.structural import Schema
from sampan.server.authentication.authenticator import TokenError, TokenUser, common
from sampan.server.request import UserInfo

_log = logging.getLogger("sampan.authentication")

GROUP = "authentication.k8s.io"
VERSIONS = ("v1", "v1beta1")
TIMEOUT_S = 30.0
LOOKUP_S = 30.0
"""Timeout in seconds of all attempts for one token together."""
_CACHE_ENTRIES_MAX = 4096

_EXTRA = Schema(type="object", additional_properties=STRINGS)


def _status_schema(version: str) -> Schema:
    user = struct(f"{version}.UserInfo", {"username": STRING, "uid": STRING, "groups": STRINGS, "extra": _EXTRA})
    fields = {"authenticated": BOOLEAN, "user": user, "audiences": STRINGS, "error": STRING}
    return struct(f"{version}.TokenReviewStatus", fields)


_READER = ReviewReader(
    GROUP, "TokenReview", {version: _status_schema(version) for version in VERSIONS}, ("spec", "status")
)


@dataclass(frozen=True, slots=True)
class WebhookTokenSettings:
    """Settings of the webhook's TokenReviews."""

    version: str = "v1"
    """Version of the TokenReview that is sent: one of `VERSIONS`."""
    cache_ttl_s: float = 120.0
    api_audiences: tuple[str, ...] = ()
    timeout_s: float = TIMEOUT_S
    """Timeout of one attempt."""


class _CachedReview(NamedTuple):
    found: TokenUser | None
    fault: str
    until: float


class WebhookTokens:
    """Authenticates tokens with a webhook."""

    cacheable = True

    def __init__(
        self,
        webhook: Webhook,
        settings: WebhookTokenSettings,
        *,
        now: Callable[[], float] = monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._webhook = webhook
        self._settings = settings
        self._now = now
        self._sleep = sleep
        self._reviews: OrderedDict[bytes, _CachedReview] = OrderedDict()

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """Return the user, or None if the token is unknown.

        A failure of the webhook raises `TokenError` and is not cached.
        """
        desired = audiences or self._settings.api_audiences
        key = _key(token, desired)
        known = self._reviews.get(key)
        if known is None or known.until <= self._now():
            known = self._read(await self._review(token, desired), desired)
            self._remember(key, known)
        if known.fault:
            raise TokenError(known.fault)
        return known.found

    async def _review(self, token: str, desired: tuple[str, ...]) -> Object:
        """Return the status of the webhook's review. Raises `TokenError`."""
        version = self._settings.version
        spec: dict[str, Any] = {"token": token}
        if desired:
            spec["audiences"] = list(desired)
        review = {"kind": "TokenReview", "apiVersion": f"{GROUP}/{version}", "metadata": {}, "spec": spec, "status": {}}
        body, timeout_s = orjson.dumps(review), self._settings.timeout_s
        try:
            async with asyncio.timeout(LOOKUP_S):
                cached = await with_retries(lambda: self._webhook.post(body, timeout_s), sleep=self._sleep)
            return _status(cached, version)
        except TimeoutError:
            text = "context deadline exceeded"
        except WebhookError as error:
            text = str(error)
        _log.error("token webhook failed", extra={"error": text})
        raise TokenError(text)

    def _read(self, status: Object, desired: tuple[str, ...]) -> _CachedReview:
        until = self._now() + self._settings.cache_ttl_s
        named = tuple(status.get("audiences") or ()) or self._settings.api_audiences
        agreed = common(desired, named)
        if desired and not agreed:
            return _CachedReview(None, "", until)
        if status.get("authenticated") is not True:
            return _CachedReview(None, str(status.get("error") or ""), until)
        return _CachedReview(TokenUser(_user(status.get("user") or {}), agreed), "", until)

    def _remember(self, key: bytes, cached: _CachedReview) -> None:
        self._reviews[key] = cached
        self._reviews.move_to_end(key)
        if len(self._reviews) > _CACHE_ENTRIES_MAX:
            self._reviews.popitem(last=False)


def _key(token: str, desired: tuple[str, ...]) -> bytes:
    """Return the cache key. It is a digest, so that the cache contains no tokens."""
    return hashlib.sha256("\0".join((token, *desired)).encode("utf-8", "surrogateescape")).digest()


def _status(body: bytes, version: str) -> Object:
    """Decode the status of a review. Raises `WebhookError` if the body is not a review."""
    try:
        review = _READER.read(body, f"{GROUP}/{version}")
    except NotDecodableError as error:
        raise WebhookError(str(error)) from None
    status: Object = review.get("status") or {}
    return status


def _user(user: Object) -> UserInfo:
    extra = {str(name): tuple(map(str, values)) for name, values in (user.get("extra") or {}).items()}
    groups = tuple(map(str, user.get("groups") or ()))
    return UserInfo(str(user.get("username", "")), str(user.get("uid", "")), groups, extra)
