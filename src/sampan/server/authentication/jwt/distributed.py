"""`DistributedClaim`: a claim that a token leaves to somebody else (OpenID Connect Core 5.6.2), fetched from there.

Concurrency: an issuer's keys are looked for by the request that needs them first; the others of that moment wait.
Source: apiserver plugin/pkg/authenticator/token/oidc/oidc.go claimResolver (1.36).
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from sampan.core.field import quote
from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.jwt.compact import issuer_of, untrusted_claims
from sampan.server.authentication.jwt.https import FetchError
from sampan.server.authentication.jwt.keys import IssuerKeys
from sampan.server.authentication.jwt.places import place_of
from sampan.server.authentication.jwt.verifier import IdTokenVerifier

RETRY_INTERVAL_S: Final = 10.0
"""How often at most an issuer is asked where its keys are, while it does not say."""
_ISSUERS_MAX: Final = 64


class DistributedClaim:
    """Fetches one claim. The token that holds it is signed by whoever issued it, for the same audiences."""

    def __init__(self, name: str, keys: IssuerKeys, verifier: Callable[[IssuerKeys], IdTokenVerifier]) -> None:
        """`keys` are those of the issuer of the tokens that leave the claim to others."""
        self._name = name
        self._keys = keys
        self._verifier = verifier
        self._issuers: dict[str, _Issuer] = {}

    async def expand(self, claims: dict[str, Any]) -> None:
        """Put the claim beside the others, which were verified, if they say where it is.

        Raises `TokenError`, `FetchError`.
        """
        place = place_of(claims, self._name)
        if place is not None:
            claims[self._name] = await self._resolve(*place)

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
        return self._issuers.setdefault(url, _Issuer(self._verifier(self._keys.other(url))))


class _Issuer:
    """Who has issued a claim, once it is known where the keys are."""

    def __init__(self, verifier: IdTokenVerifier) -> None:
        self._verifier = verifier
        self._asking = asyncio.Lock()
        self._asked = float("-inf")

    async def ready(self) -> IdTokenVerifier:
        """Who verifies its tokens. Raises `TokenError` while it does not say where its keys are."""
        keys = self._verifier.keys
        async with self._asking:
            now = asyncio.get_running_loop().time()
            if not keys.ready and now >= self._asked + RETRY_INTERVAL_S:
                self._asked = now
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
