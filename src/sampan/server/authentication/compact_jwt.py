"""Claims of a compact JWT before its signature is verified, and the formats of claims.

Source: kubernetes pkg/serviceaccount/jwt.go hasCorrectIssuer, apiserver token/oidc untrustedIssuer (1.36).
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import orjson


def untrusted_claims(token: str) -> dict[str, Any] | None:
    """Return the unverified claims of a compact JWT, else None. Use them only to select a verifier."""
    parts = token.split(".")
    if token.lstrip().startswith("{") or len(parts) != 3:
        return None
    try:
        payload = parts[1].encode("ascii")
        claims = orjson.loads(base64.b64decode(payload + b"=" * (-len(payload) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        return None
    return claims if isinstance(claims, dict) else None


def issuer_of(claims: Mapping[str, Any]) -> str:
    """Return the issuer that a token names, or ""."""
    found = claims.get("iss")
    return found if isinstance(found, str) else ""


def audiences_of(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the audiences that a token names. The claim is a string or a list of strings."""
    found = claims.get("aud")
    if isinstance(found, str):
        return (found,) if found else ()
    return tuple(name for name in found if isinstance(name, str)) if isinstance(found, list) else ()
