"""`IdTokenVerifier`: checks signature, issuer, audience and times of a token.

Source: go-oidc oidc/verify.go, as apiserver's token/oidc uses it (1.36).
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jwt
import orjson

from sampan.core.field import quote
from sampan.core.time import format_time
from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.compact_jwt import audiences_of
from sampan.server.authentication.jwt.claim_sources import check_sources
from sampan.server.authentication.jwt.keys import IssuerKeys

ALGORITHMS = ("ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")
NOT_BEFORE_LEEWAY_S = 60.0
_UNVERIFIED = "failed to verify signature: failed to verify id token signature"


class IdTokenVerifier:
    """Accepts tokens that the issuer's keys have signed, for one of the audiences, and that are valid now."""

    def __init__(
        self, keys: IssuerKeys, audiences: Sequence[str], algorithms: Sequence[str], now: Callable[[], float]
    ) -> None:
        self.keys = keys
        self._url = keys.issuer_url
        self._audiences = audiences
        self._algorithms = list(algorithms)
        self._now = now
        self._signatures = jwt.PyJWS(algorithms=ALGORITHMS)

    async def verified(self, token: str) -> dict[str, Any]:
        """Return the claims after all checks. Raises `TokenError`, `FetchError`."""
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise TokenError(f"oidc: malformed jwt: {error}") from None
        algorithm, key_id = header.get("alg"), header.get("kid", "")
        if algorithm not in self._algorithms:
            expected, got = " ".join(map(quote, self._algorithms)), quote(str(algorithm))
            raise TokenError(f"oidc: id token signed with unsupported algorithm, expected [{expected}] got {got}")
        claims = self._signed(token, algorithm, key_id)
        if claims is None and await self.keys.refetch():
            claims = self._signed(token, algorithm, key_id)
        if claims is None:
            raise TokenError(_UNVERIFIED)
        self._check(claims)
        return claims

    def _signed(self, token: str, algorithm: str, key_id: str) -> dict[str, Any] | None:
        for key in self.keys.known(key_id):
            try:
                claims = orjson.loads(self._signatures.decode(token, key.key, [algorithm]))
            except (jwt.PyJWTError, orjson.JSONDecodeError, TypeError, ValueError):
                continue
            if isinstance(claims, dict):
                return claims
        return None

    def _check(self, claims: Mapping[str, Any]) -> None:
        check_sources(claims)
        if claims.get("iss") != self._url:
            shown = f"expected {quote(self._url)} got {quote(str(claims.get('iss')))}"
            raise TokenError(f"oidc: id token issued by a different provider, {shown}")
        self._check_audience(audiences_of(claims))
        expiry, not_before, now = _number(claims, "exp"), _number(claims, "nbf"), self._now()
        if expiry is None or expiry < now:
            raise TokenError(f"oidc: token is expired (Token Expiry: {_shown_time(expiry)})")
        if not_before is not None and now + NOT_BEFORE_LEEWAY_S < not_before:
            text = f"oidc: current time {_shown_time(now)} before the nbf (not before) time: {_shown_time(not_before)}"
            raise TokenError(text)

    def _check_audience(self, named: tuple[str, ...]) -> None:
        desired = self._audiences
        if not set(desired) & set(named):
            shown, got = " ".join(map(quote, sorted(desired))), " ".join(map(quote, named))
            expected = quote(desired[0]) if len(desired) == 1 else f"in [{shown}]"
            raise TokenError(f"oidc: expected audience {expected} got [{got}]")


def _number(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenError(f"oidc: failed to unmarshal claims: {name} is no number")
    return value


def _shown_time(seconds: float | None) -> str:
    if seconds is None:
        return "the token has no claim exp"
    try:
        return format_time(dt.datetime.fromtimestamp(int(seconds), dt.UTC))
    except (ValueError, OverflowError, OSError):
        return str(seconds)
