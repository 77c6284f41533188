"""Sources of distributed claims: `_claim_names` and `_claim_sources` (OpenID Connect Core 5.6.2).

Source: go-oidc oidc/verify.go, apiserver plugin/pkg/authenticator/token/oidc/oidc.go (1.36).
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sampan.core.go_text import unmarshal_text
from sampan.server.authentication.authenticator import TokenError

_NAMES: Final = "_claim_names"
_SOURCES: Final = "_claim_sources"
_WRONG: Final = "oidc: failed to unmarshal claims: "


class ClaimEndpoint(NamedTuple):
    """URL of a claim, and the access token for it ("" if none is needed)."""

    url: str
    access_token: str


def check_sources(claims: Mapping[str, Any]) -> None:
    """Check that each distributed claim has a valid source. Raises `TokenError`."""
    names = _map(claims, _NAMES, "map[string]string")
    sources = _map(claims, _SOURCES, "map[string]oidc.claimSource")
    for value in names.values():
        _check_text(value, f"idToken.{_NAMES}")
    for source in sources.values():
        _check_source(source)
    for source_name in names.values():
        if not source_name:
            raise TokenError("oidc: failed to obtain source from claim name")
        if source_name not in sources:
            raise TokenError("oidc: source does not exist")


def source_of(claims: Mapping[str, Any], name: str) -> ClaimEndpoint | None:
    """Return the source of a claim, or None. The claims must have been checked. Raises `TokenError`."""
    source_name = (claims.get(_NAMES) or {}).get(name)
    if name in claims or source_name is None:
        return None
    source = claims[_SOURCES][source_name] or {}
    packed = field(source, "JWT")
    if packed is not None and not isinstance(packed, str):
        text = unmarshal_text(packed, "string", field="endpoint.JWT")
        raise TokenError(f"oidc: could not parse claim sources: {text}")
    url = field(source, "endpoint")
    return ClaimEndpoint(url, field(source, "access_token") or "") if url else None


def field(value: Mapping[str, Any], name: str) -> Any:
    """Return a field of an object. If no name matches exactly, ignore the case, as Go's decoder does."""
    found = value.get(name)
    return found if found is not None else next((v for key, v in value.items() if key.lower() == name.lower()), None)


def _map(claims: Mapping[str, Any], name: str, go_type: str) -> Mapping[str, Any]:
    found = claims.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise TokenError(_WRONG + unmarshal_text(found, go_type, field=f"idToken.{name}"))
    return found


def _check_text(value: Any, place: str) -> None:
    if value is not None and not isinstance(value, str):
        raise TokenError(_WRONG + unmarshal_text(value, "string", field=place))


def _check_source(source: Any) -> None:
    if source is None:
        return
    if not isinstance(source, dict):
        raise TokenError(_WRONG + unmarshal_text(source, "oidc.claimSource", field=f"idToken.{_SOURCES}"))
    for name in ("endpoint", "access_token"):
        _check_text(field(source, name), f"claimSource.{_SOURCES}.{name}")
