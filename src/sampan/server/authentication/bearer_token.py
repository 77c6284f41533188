"""Bearer tokens: read the token from the request and pass it to the token authenticators.

Source: apiserver pkg/authentication/request/bearertoken/bearertoken.go, pkg/authentication/token/{cache,union} (1.36).
"""

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sampan.core.clock import monotonic
from sampan.core.errors import unauthorized
from sampan.server.authentication.authenticator import (
    TokenAuthenticator,
    TokenError,
    TokenUser,
    with_authenticated_group,
)
from sampan.server.authentication.metrics import TokenCacheMetrics
from sampan.server.request import Request, UserInfo

_log = logging.getLogger("sampan.authentication")

CACHE_TTL_S = 10.0
_CACHE_ENTRIES_MAX = 4096
_INVALID = "invalid bearer token"
_EXTRA_SPACE = "the provided Authorization header contains extra space before the bearer token, and is ignored"


class TokenMatch(NamedTuple):
    """User of a token, and the authenticator that accepted the token."""

    found: TokenUser
    by: TokenAuthenticator


class BearerTokenAuthenticator:
    """Authenticates `Authorization: Bearer <token>`. Valid tokens are cached for ten seconds."""

    def __init__(
        self,
        authenticators: Sequence[TokenAuthenticator],
        now: Callable[[], float] = monotonic,
        metrics: TokenCacheMetrics | None = None,
    ) -> None:
        self._authenticators = tuple(authenticators)
        self._metrics = metrics or TokenCacheMetrics()
        self._now = now
        self._known: dict[str, tuple[TokenUser, float]] = {}

    def recall(self, request: Request) -> UserInfo | None:
        """Return the user of a token that is in the cache."""
        known = self._known.get(request.headers.get("authorization", ""))
        if known is None or known[1] <= self._now():
            return None
        self._metrics.hits += 1
        return _apply_notes(known[0], request)

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Return the token's user, or None if there is no token. Raises `StatusError` 401 for an unknown token."""
        header = request.headers.get("authorization")
        if header is None:
            return None
        token = _token(header)
        if not token:
            if token is not None:
                request.warnings.append(_EXTRA_SPACE)
            return None
        try:
            with self._metrics.fetching(_INVALID):
                found, by = await find_token_user(self._authenticators, token)
        except TokenError as error:
            self._known.pop(header, None)
            request.annotations.update(error.annotations)
            _log.debug("bearer token refused", extra={"error": str(error), "source": request.wire.client_address})
            raise unauthorized() from None
        if by.cacheable:
            self._remember(header, found)
        return _apply_notes(found, request)

    def _remember(self, header: str, found: TokenUser) -> None:
        if len(self._known) >= _CACHE_ENTRIES_MAX:
            self._known.clear()
        self._known[header] = (found, self._now() + CACHE_TTL_S)


async def find_token_user(
    authenticators: Sequence[TokenAuthenticator], token: str, audiences: tuple[str, ...] = ()
) -> TokenMatch:
    """Return the user of a token from the first authenticator that accepts it. Raises `TokenError` with all reasons."""
    faults = [_INVALID]
    annotations: dict[str, str] = {}
    for authenticator in authenticators:
        try:
            found = await authenticator.authenticate_token(token, audiences)
        except TokenError as error:
            faults.append(str(error))
            annotations.update(error.annotations)
            continue
        if found is not None:
            user = with_authenticated_group(found.user)
            return TokenMatch(TokenUser(user, found.audiences, found.annotations, found.warnings), authenticator)
    texts = list(dict.fromkeys(faults))
    raise TokenError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]", annotations)


def _apply_notes(found: TokenUser, request: Request) -> UserInfo:
    """Return the user. Add the token's annotations and warnings to the request."""
    if found.annotations:
        request.annotations.update(found.annotations)
    if found.warnings:
        request.warnings.extend(found.warnings)
    return found.user


def _token(header: str) -> str | None:
    """Return the token of an `Authorization` header, or None. Return "" if a second space precedes the token."""
    scheme, _, rest = header.strip().partition(" ")
    return rest.split(" ", 1)[0] if rest and scheme.lower() == "bearer" else None
