"""`ServiceAccountTokens`: the authenticator of service account tokens, both bound tokens and those of Secrets.

Source: kubernetes pkg/serviceaccount/jwt.go JWTTokenAuthenticator (1.36).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

import jwt
import orjson

from sampan.core.clock import unix_time
from sampan.core.event_loop.offload import offloaded
from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.tokens.keys import VerifyingKey
from sampan.core.tokens.legacy import LEGACY_ISSUER
from sampan.registry.strategy import ObjectReader
from sampan.server.authentication.authenticator import TokenError, TokenUser, common
from sampan.server.authentication.compact_jwt import audiences_of, untrusted_claims
from sampan.server.authentication.service_account.bound import NotInCache, Valid, validate_bound
from sampan.server.authentication.service_account.counts import TokenCounts
from sampan.server.authentication.service_account.legacy import validate_legacy

_LEGACY_TOKEN = "authentication.k8s.io/legacy-token"

NoteUse = Callable[[Object], Awaitable[None]]
"""Called with the Secret of each token that is used."""


class FreshReader(ObjectReader, Protocol):
    """Reader that can wait for the writes of other servers."""

    async def fresh(self, group: str, resource: str) -> None:
        """Wait until the cache contains all writes to a resource so far, including writes by other servers."""


class ServiceAccountTokens:
    """Authenticates tokens of some issuers and keys. The objects to which a token is bound must exist."""

    cacheable = True

    def __init__(
        self,
        reader: FreshReader,
        keys: Sequence[VerifyingKey],
        *,
        issuers: Sequence[str],
        api_audiences: Sequence[str],
        counts: TokenCounts | None = None,
        now: Callable[[], float] = unix_time,
        note_use: NoteUse | None = None,
    ) -> None:
        self._reader = reader
        self._keys = tuple(keys)
        self._issuers = frozenset(issuers) | {LEGACY_ISSUER}
        self._api_audiences = tuple(api_audiences)
        self._counts = counts or TokenCounts()
        self._now = now
        self._note_use = note_use
        self._signatures = jwt.PyJWS()

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """Return the user, or None if the token is unknown."""
        claimed = await offloaded(untrusted_claims, token)
        if claimed is None or not self._issued(claimed):
            return None
        claims = await offloaded(self._verified, token)
        if not self._issued(claims):
            raise TokenError(f"token issuer {quote(str(claims.get('iss')))} is invalid")
        named = audiences_of(claims)
        if not named:
            self._counts.legacy.add(())
        desired = audiences or self._api_audiences
        agreed = common(desired, named or self._api_audiences)
        if not agreed and self._api_audiences:
            raise TokenError(f"token audiences {_shown(named)} is invalid for the target audiences {_shown(desired)}")
        found = await self._validated(token, claims)
        if found.secret is not None and self._note_use is not None:
            await self._note_use(found.secret)
        annotations = dict(found.annotations)
        if not named:
            annotations[_LEGACY_TOKEN] = str(claims.get("sub", ""))
        if found.refusal:
            raise TokenError(found.refusal, annotations)
        return TokenUser(found.account.user(), agreed, annotations, found.warnings)

    async def _validated(self, token: str, claims: Mapping[str, Any]) -> Valid:
        """Validate the token. If an object is missing, read the newest state once: another server may just have created
        it.
        """
        refreshed: set[str] = set()
        while True:
            try:
                if claims["iss"] == LEGACY_ISSUER:
                    return validate_legacy(self._reader, token, claims, self._counts)
                return validate_bound(self._reader, claims, self._now(), self._counts)
            except NotInCache as error:
                if error.resource in refreshed:
                    raise
                refreshed.add(error.resource)
                await self._reader.fresh("", error.resource)

    def _issued(self, claims: Mapping[str, Any]) -> bool:
        issuer = claims.get("iss")
        return isinstance(issuer, str) and issuer in self._issuers

    def _verified(self, token: str) -> dict[str, Any]:
        """Return the claims of a token with a valid signature. Raises `TokenError`."""
        try:
            key_id = jwt.get_unverified_header(token).get("kid", "")
        except jwt.InvalidTokenError as error:
            raise TokenError(str(error)) from None
        keys = [key for key in self._keys if not key_id or key.key_id == key_id]
        if not keys:
            raise TokenError("invalid signature, no keys found")
        for key in keys:
            try:
                claims = orjson.loads(self._signatures.decode(token, key.key, [key.algorithm]))
            except (jwt.InvalidTokenError, orjson.JSONDecodeError):
                continue
            if isinstance(claims, dict):
                return claims
        raise TokenError("go-jose/go-jose: error in cryptographic primitive")


def _shown(audiences: Sequence[str]) -> str:
    return f"[{' '.join(map(quote, audiences))}]"
