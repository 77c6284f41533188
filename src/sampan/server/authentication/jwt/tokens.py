"""`JwtTokens`: the authenticator of one issuer's tokens.

Source: apiserver plugin/pkg/authenticator/token/oidc/oidc.go, go-oidc oidc/verify.go (1.36).
"""

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jwt
import orjson

from sampan.core.field import quote
from sampan.server.authentication.authenticator import TokenError, TokenUser
from sampan.server.authentication.jwt.claims import user_of
from sampan.server.authentication.jwt.compact import audiences_of, untrusted_claims
from sampan.server.authentication.jwt.https import FetchError
from sampan.server.authentication.jwt.keys import IssuerKeys
from sampan.server.authentication.jwt.validation import CompiledIssuer

ALGORITHMS = ("ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")
NOT_BEFORE_LEEWAY_S = 60.0
_UNVERIFIED = "failed to verify signature: failed to verify id token signature"


class JwtTokens:
    """Knows the tokens of one issuer."""

    cacheable = True

    def __init__(
        self,
        issuer: CompiledIssuer,
        keys: IssuerKeys,
        *,
        algorithms: Sequence[str] = ALGORITHMS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.keys = keys
        self.url = issuer.spec.issuer.url
        self._issuer = issuer
        self._algorithms = list(algorithms)
        self._now = now
        self._signatures = jwt.PyJWS(algorithms=ALGORITHMS)

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """See `TokenAuthenticator`."""
        claimed = untrusted_claims(token)
        if claimed is None or claimed.get("iss") != self.url:
            return None
        if not self.keys.ready:
            raise TokenError("oidc: authenticator not initialized")
        try:
            claims = await self._verified(token)
        except (TokenError, FetchError) as error:
            raise TokenError(f"oidc: verify token: {error}") from None
        return TokenUser(user_of(self._issuer, claims))

    async def _verified(self, token: str) -> dict[str, Any]:
        """The claims, after times, audience and signature were found good."""
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
        if claims.get("iss") != self.url:
            shown = f"expected {quote(self.url)} got {quote(str(claims.get('iss')))}"
            raise TokenError(f"oidc: id token issued by a different provider, {shown}")
        self._check_audience(audiences_of(claims))
        expiry, not_before, now = _number(claims, "exp"), _number(claims, "nbf"), self._now()
        if expiry is None or expiry < now:
            raise TokenError(f"oidc: token is expired (Token Expiry: {_shown_time(expiry)})")
        if not_before is not None and now + NOT_BEFORE_LEEWAY_S < not_before:
            text = f"oidc: current time {_shown_time(now)} before the nbf (not before) time: {_shown_time(not_before)}"
            raise TokenError(text)

    def _check_audience(self, named: tuple[str, ...]) -> None:
        wanted = self._issuer.spec.issuer.audiences
        if not set(wanted) & set(named):
            shown, got = " ".join(map(quote, sorted(wanted))), " ".join(map(quote, named))
            expected = quote(wanted[0]) if len(wanted) == 1 else f"in [{shown}]"
            raise TokenError(f"oidc: expected audience {expected} got [{got}]")


def _number(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenError(f"oidc: failed to unmarshal claims: {name} is no number")
    return value


def _shown_time(seconds: float | None) -> str:
    """An instant as Go writes it; None: Go's zero."""
    if seconds is None:
        return "0001-01-01 00:00:00 +0000 UTC"
    try:
        return f"{dt.datetime.fromtimestamp(int(seconds), dt.UTC):%Y-%m-%d %H:%M:%S} +0000 UTC"
    except (ValueError, OverflowError, OSError):
        return str(seconds)
