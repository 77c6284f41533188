"""Bearer tokens: takes the token out of the request and asks token authenticators whose it is.

Source: apiserver pkg/authentication/request/bearertoken/bearertoken.go, pkg/authentication/token/{cache,union} (1.36).
"""

import logging
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

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


class Known(NamedTuple):
    """Whose token it is, and who knew it."""

    found: TokenUser
    by: TokenAuthenticator


class BearerTokenAuthenticator:
    """Knows the users of `Authorization: Bearer <token>`; tokens that were good are remembered for ten seconds."""

    def __init__(
        self,
        authenticators: Sequence[TokenAuthenticator],
        now: Callable[[], float] = time.monotonic,
        metrics: TokenCacheMetrics | None = None,
    ) -> None:
        self._authenticators = tuple(authenticators)
        self._metrics = metrics or TokenCacheMetrics()
        self._now = now
        self._known: dict[str, tuple[TokenUser, float]] = {}

    def recall(self, request: Request) -> UserInfo | None:
        """The user of a token that was good a moment ago."""
        known = self._known.get(request.headers.get("authorization", ""))
        if known is None or known[1] <= self._now():
            return None
        self._metrics.hits += 1
        return _taken(known[0], request)

    async def authenticate(self, request: Request) -> UserInfo | None:
        """The token's user; None without a token. Raises `StatusError` 401 for a token that nobody knows."""
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
                found, by = await ask(self._authenticators, token)
        except TokenError as error:
            self._known.pop(header, None)
            request.annotations.update(error.annotations)
            _log.debug("token refused", extra={"error": str(error), "source": request.client_address})
            raise unauthorized() from None
        if by.cacheable:
            self._remember(header, found)
        return _taken(found, request)

    def _remember(self, header: str, found: TokenUser) -> None:
        if len(self._known) >= _CACHE_ENTRIES_MAX:
            self._known.clear()
        self._known[header] = (found, self._now() + CACHE_TTL_S)


async def ask(authenticators: Sequence[TokenAuthenticator], token: str, audiences: tuple[str, ...] = ()) -> Known:
    """Whose token it is. Raises `TokenError` with all that was said against it."""
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
            return Known(TokenUser(user, found.audiences, found.annotations, found.warnings), authenticator)
    texts = list(dict.fromkeys(faults))
    raise TokenError(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]", annotations)


def _taken(found: TokenUser, request: Request) -> UserInfo:
    """The user, after what the token says besides has been noted."""
    if found.annotations:
        request.annotations.update(found.annotations)
    if found.warnings:
        request.warnings.extend(found.warnings)
    return found.user


def _token(header: str) -> str | None:
    """The token of an `Authorization` header; empty when a space is in its place, None without one."""
    scheme, _, rest = header.strip().partition(" ")
    return rest.split(" ", 1)[0] if rest and scheme.lower() == "bearer" else None
