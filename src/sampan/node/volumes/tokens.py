"""`Tokens`: ServiceAccount tokens of Pods, renewed before they expire.

Source: kubernetes pkg/kubelet/token/token_manager.go (1.36).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sampan.client import Client, ClientError, NotFound
from sampan.component_base.resources import SERVICE_ACCOUNTS
from sampan.core.time import Clock, parse_time
from sampan.kinds import authentication_v1
from sampan.node.references import Missing, Unreadable
from sampan.node.views.pod import Pod
from sampan.node.views.volume_sources import TokenProjection

RENEW_AT: Final = 0.8
"""Fraction of its lifetime after which a token is renewed."""
RENEW_S_MAX: Final = 24 * 3600.0
_Key = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class CachedToken:
    """Token with its times of renewal and of expiry, in seconds since 1970."""

    text: str
    renew_at: float
    expires_at: float


class Tokens:
    """Requests tokens, and caches them while they are valid."""

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._tokens: dict[_Key, CachedToken] = {}

    async def token(self, pod: Pod, desired: TokenProjection) -> CachedToken:
        """Return the token for a Pod.

        If it cannot be renewed, it is used until it expires. Raises `Missing`, `Unreadable`.
        """
        account = pod.spec.service_account_name or "default"
        key = (pod.metadata.uid, account, desired.audience, desired.expiration_seconds)
        now = self._clock.now().timestamp()
        known = self._tokens.get(key)
        if known is not None and now < known.renew_at:
            return known
        try:
            fresh = await self._request(pod, account, desired)
        # The API server may be away for a while. The old token works until it expires, so Pods can still start.
        except (Missing, Unreadable):
            if known is None or now >= known.expires_at:
                raise
            return CachedToken(known.text, now + 60.0, known.expires_at)
        self._tokens[key] = fresh
        return fresh

    def forget(self, uid: str) -> None:
        """Drop the tokens of a Pod that no longer exists."""
        for key in [key for key in self._tokens if key[0] == uid]:
            del self._tokens[key]

    async def _request(self, pod: Pod, account: str, desired: TokenProjection) -> CachedToken:
        reference: authentication_v1.BoundObjectReference = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": pod.metadata.name,
            "uid": pod.metadata.uid,
        }
        spec: authentication_v1.TokenRequestSpec = {
            "expirationSeconds": desired.expiration_seconds,
            "boundObjectRef": reference,
        }
        spec["audiences"] = [desired.audience] if desired.audience else []
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        accounts = self._client.resource(SERVICE_ACCOUNTS, namespace=pod.metadata.namespace)
        try:
            response = await accounts.subresource("token").create(account, body)
        except NotFound as error:
            raise Missing(f"failed to fetch token: {error}") from None
        except ClientError as error:
            raise Unreadable(f"failed to fetch token: {error}") from error
        expires_at = parse_time(response["status"]["expirationTimestamp"]).timestamp()
        # The server may shorten or extend the lifetime, so the response has the true one.
        lasts_s = float(response["spec"].get("expirationSeconds") or desired.expiration_seconds)
        made_at = expires_at - lasts_s
        renew_at = made_at + min(lasts_s * RENEW_AT, RENEW_S_MAX)
        return CachedToken(response["status"]["token"], renew_at, expires_at)
