"""`IssuerKeys`: the public keys of an issuer, fetched on demand and cached.

Source: go-oidc oidc/jwks.go, oidc/oidc.go NewProvider, as apiserver's token/oidc uses them (1.36).
"""

import asyncio
from collections.abc import Callable
from typing import Any

import jwt
import orjson

from sampan.core.clock import monotonic
from sampan.core.field import quote
from sampan.server.authentication.jwt.https import FetchError, HttpsGet

REFETCH_INTERVAL_S = 5.0
"""Minimum interval in seconds between two fetches. It limits requests to the issuer when clients send tokens with
unknown keys.
"""
WELL_KNOWN = "/.well-known/openid-configuration"


class IssuerKeys:
    """Keys of one issuer. `discover` must succeed once before the keys can be fetched."""

    def __init__(
        self,
        issuer_url: str,
        get: HttpsGet,
        *,
        discovery_url: str = "",
        now: Callable[[], float] = monotonic,
        on_fetch: Callable[[bytes | None], None] | None = None,
    ) -> None:
        """`on_fetch` is called with each fetched document of keys, or with None after a failure."""
        self.issuer_url = issuer_url
        self._discovery_url = discovery_url or issuer_url.rstrip("/") + WELL_KNOWN
        self.get = get
        self._now = now
        self._jwks_url = ""
        self._on_fetch = on_fetch
        self._keys: list[jwt.PyJWK] = []
        self._fetched = float("-inf")
        self._fetching = asyncio.Lock()

    def for_issuer(self, issuer_url: str) -> "IssuerKeys":
        """Return the keys of another issuer, with the same trusted CAs."""
        same = issuer_url.rstrip("/") == self.issuer_url.rstrip("/")
        return IssuerKeys(issuer_url, self.get, discovery_url=self._discovery_url if same else "", now=self._now)

    @property
    def ready(self) -> bool:
        """True if the URL of the keys is known."""
        return bool(self._jwks_url)

    async def discover(self) -> None:
        """Fetch the discovery document, which contains the URL of the keys. Raises `FetchError`."""
        document = _decoded(await self.get(self._discovery_url))
        issuer, jwks_url = document.get("issuer"), document.get("jwks_uri")
        if issuer != self.issuer_url:
            text = f"expected {quote(self.issuer_url)} got {quote(str(issuer))}"
            raise FetchError(f"oidc: issuer did not match the issuer returned by provider, {text}")
        if not isinstance(jwks_url, str) or not jwks_url:
            raise FetchError("provider did not return JWKS URL")
        self._jwks_url = jwks_url

    def known(self, key_id: str) -> list[jwt.PyJWK]:
        """Return the cached keys that may have signed a token with this key id ("" if the token names none)."""
        return [key for key in self._keys if not key_id or key.key_id == key_id]

    async def refetch(self) -> bool:
        """Fetch the keys again, unless they were fetched recently. Return True if they were fetched. Raises
        `FetchError`.
        """
        started = self._now()
        async with self._fetching:
            if self._fetched >= started:
                return True  # Another task has fetched them while this one waited.
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
            if self._on_fetch is not None:
                self._on_fetch(body)
        self._keys = [key for entry in (entries if isinstance(entries, list) else ()) for key in _key(entry)]


def _key(entry: Any) -> list[jwt.PyJWK]:
    """Return the key of an entry. Return nothing if its type is not supported or it is not for signatures."""
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
