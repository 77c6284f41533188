"""`IssuerKeys`: the public keys of an issuer, fetched when they are needed and kept.

Source: go-oidc oidc/jwks.go, oidc/oidc.go NewProvider, as apiserver's token/oidc uses them (1.36).
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import jwt
import orjson

from sampan.core.field import quote
from sampan.server.authentication.jwt.https import FetchError, HttpsGet

REFETCH_INTERVAL_S = 5.0
"""Who sends tokens that name unknown keys makes us ask the issuer no more often than this."""
WELL_KNOWN = "/.well-known/openid-configuration"


class IssuerKeys:
    """Where the issuer keeps its keys is found out by `discover`, which must have succeeded once."""

    def __init__(
        self, issuer_url: str, get: HttpsGet, *, discovery_url: str = "", now: Callable[[], float] = time.monotonic
    ) -> None:
        self.issuer_url = issuer_url
        self._discovery_url = discovery_url or issuer_url.rstrip("/") + WELL_KNOWN
        self.get = get
        self._now = now
        self._jwks_url = ""
        self.note: Callable[[bytes | None], None] | None = None
        """Is told of each document with keys that was fetched; None: it could not be."""
        self._keys: list[jwt.PyJWK] = []
        self._fetched = float("-inf")
        self._fetching = asyncio.Lock()

    def other(self, issuer_url: str) -> "IssuerKeys":
        """Those of another issuer, whom the same CAs vouch for."""
        same = issuer_url.rstrip("/") == self.issuer_url.rstrip("/")
        return IssuerKeys(issuer_url, self.get, discovery_url=self._discovery_url if same else "", now=self._now)

    @property
    def ready(self) -> bool:
        """Whether it is known where the keys are."""
        return bool(self._jwks_url)

    async def discover(self) -> None:
        """Ask the issuer where its keys are. Raises `FetchError`."""
        document = _decoded(await self.get(self._discovery_url))
        issuer, jwks_url = document.get("issuer"), document.get("jwks_uri")
        if issuer != self.issuer_url:
            text = f"expected {quote(self.issuer_url)} got {quote(str(issuer))}"
            raise FetchError(f"oidc: issuer did not match the issuer returned by provider, {text}")
        if not isinstance(jwks_url, str) or not jwks_url:
            raise FetchError("provider did not return JWKS URL")
        self._jwks_url = jwks_url

    def known(self, key_id: str) -> list[jwt.PyJWK]:
        """The keys that may have signed a token that names this key ("": no key)."""
        return [key for key in self._keys if not key_id or key.key_id == key_id]

    async def refetch(self) -> bool:
        """Fetch the keys anew, unless that was done a moment ago. Gives whether they are new. Raises `FetchError`."""
        asked = self._now()
        async with self._fetching:
            if self._fetched >= asked:
                return True  # somebody else has fetched them while we waited
            if self._now() - self._fetched < REFETCH_INTERVAL_S:
                return False
            self._fetched = self._now()
            await self._fetch()
            return True

    async def _fetch(self) -> None:
        body: bytes | None = None
        try:
            body = await self.get(self._jwks_url)
            entries = _decoded(body).get("keys")
        except FetchError:
            body = None
            raise
        finally:
            if self.note is not None:
                self.note(body)
        self._keys = [key for entry in (entries if isinstance(entries, list) else ()) for key in _key(entry)]


def _key(entry: Any) -> list[jwt.PyJWK]:
    """The key of an entry; none where it is of a kind that signs no tokens of ours, or not for signatures."""
    if not isinstance(entry, dict) or entry.get("kty") not in ("RSA", "EC") or entry.get("use", "sig") != "sig":
        return []
    try:
        return [jwt.PyJWK(entry)]
    except (jwt.PyJWTError, ValueError, TypeError):
        return []


def _decoded(body: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise FetchError(f"oidc: failed to decode provider discovery object: {error}") from None
    if not isinstance(document, dict):
        raise FetchError("oidc: failed to decode provider discovery object: not an object")
    return document
