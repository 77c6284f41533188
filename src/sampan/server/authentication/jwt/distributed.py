"""`DistributedClaim`: a claim that is fetched from an endpoint that the token names (OpenID Connect Core 5.6.2).

Concurrency: the first request that needs an issuer's keys discovers them; concurrent requests wait for it.
Source: apiserver plugin/pkg/authenticator/token/oidc/oidc.go claimResolver (1.36).
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from sampan.core.field import quote
from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.compact_jwt import issuer_of, untrusted_claims
from sampan.server.authentication.jwt.claim_sources import source_of
from sampan.server.authentication.jwt.https import FetchError
from sampan.server.authentication.jwt.keys import IssuerKeys
from sampan.server.authentication.jwt.verifier import IdTokenVerifier

RETRY_INTERVAL_S: Final = 10.0
"""Minimum interval in seconds between two attempts to discover an issuer's keys."""
_ISSUERS_MAX: Final = 64


class DistributedClaim:
    """Fetches one claim. The endpoint returns it in a token, which its own issuer signs for the same audiences."""

    def __init__(self, name: str, keys: IssuerKeys, verifier: Callable[[IssuerKeys], IdTokenVerifier]) -> None:
        """`keys` are those of the issuer of the token that refers to the claim."""
        self._name = name
        self._keys = keys
        self._verifier = verifier
        self._issuers: dict[str, _Issuer] = {}

    async def expand(self, claims: dict[str, Any]) -> None:
        """Add the claim to the verified claims if they name a source for it.

        Raises `TokenError`, `FetchError`.
        """
        source = source_of(claims, self._name)
        if source is not None:
            claims[self._name] = await self._resolve(*source)

    async def _resolve(self, url: str, access_token: str) -> Any:
        try:
            token = "".join((await self._keys.get.claim(url, access_token)).split())
        except FetchError as error:
            raise TokenError(f"while getting distributed claim {quote(self._name)}: {error}") from None
        claimed = untrusted_claims(token)
        if claimed is None:
            text = f"getting untrusted issuer from endpoint {url} failed for claim {quote(self._name)}: malformed token"
            raise TokenError(text)
        verifier = await self._issuer(issuer_of(claimed)).ready()
        try:
            claims = await verifier.verified(token)
        except (TokenError, FetchError) as error:
            raise TokenError(f"verify distributed claim token: {error}") from None
        if self._name not in claims:
            text = f"jwt returned by distributed claim endpoint {quote(url)} did not contain claim: {self._name}"
            raise TokenError(text)
        return claims[self._name]

    def _issuer(self, url: str) -> "_Issuer":
        if url not in self._issuers and len(self._issuers) >= _ISSUERS_MAX:
            self._issuers.clear()
        return self._issuers.setdefault(url, _Issuer(self._verifier(self._keys.for_issuer(url))))


class _Issuer:
    """Issuer of a distributed claim, whose keys are discovered on first use."""

    def __init__(self, verifier: IdTokenVerifier) -> None:
        self._verifier = verifier
        self._discovery_lock = asyncio.Lock()
        self._last_attempt = float("-inf")

    async def ready(self) -> IdTokenVerifier:
        """Return the verifier of its tokens. Raises `TokenError` while its keys are not discovered."""
        keys = self._verifier.keys
        async with self._discovery_lock:
            now = asyncio.get_running_loop().time()
            if not keys.ready and now >= self._last_attempt + RETRY_INTERVAL_S:
                self._last_attempt = now
                try:
                    await keys.discover()
                except FetchError as error:
                    raise _unready(keys.issuer_url) from error
        if not keys.ready:
            raise _unready(keys.issuer_url)
        return self._verifier


def _unready(issuer: str) -> TokenError:
    return TokenError(
        f"verifying untrusted issuer {issuer} failed: verifier not initialized for issuer: {quote(issuer)}"
    )
