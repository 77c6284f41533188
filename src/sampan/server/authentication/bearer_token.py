"""Bearer tokens: takes the token out of the request and asks token authenticators whose it is.

Source: apiserver pkg/authentication/request/bearertoken/bearertoken.go, pkg/authentication/token/cache (1.36).
"""

import time
from collections.abc import Callable, Sequence

from sampan.core.errors import StatusError, unauthorized
from sampan.server.authentication.authenticator import TokenAuthenticator, with_authenticated_group
from sampan.server.request import Request, UserInfo

CACHE_TTL_S = 10.0
_CACHE_ENTRIES_MAX = 4096


class BearerTokenAuthenticator:
    """Knows the users of `Authorization: Bearer <token>`; tokens that were good are remembered for ten seconds."""

    def __init__(self, authenticators: Sequence[TokenAuthenticator], now: Callable[[], float] = time.monotonic) -> None:
        self._authenticators = tuple(authenticators)
        self._now = now
        self._known: dict[str, tuple[UserInfo, float]] = {}

    def recall(self, request: Request) -> UserInfo | None:
        """The user of a token that was good a moment ago."""
        known = self._known.get(request.headers.get("authorization", ""))
        return known[0] if known is not None and known[1] > self._now() else None

    async def authenticate(self, request: Request) -> UserInfo | None:
        """The token's user; None without a token. Raises `StatusError` 401 for a token that nobody knows."""
        header = request.headers.get("authorization")
        if header is None:
            return None
        token = _token(header)
        if not token:
            return None
        return await self._ask(header, token)

    async def _ask(self, header: str, token: str) -> UserInfo:
        for authenticator in self._authenticators:
            try:
                user = await authenticator.authenticate_token(token)
            except StatusError:
                continue
            if user is not None:
                user = with_authenticated_group(user)
                if authenticator.cacheable:
                    self._remember(header, user)
                return user
        self._known.pop(header, None)
        raise unauthorized()

    def _remember(self, header: str, user: UserInfo) -> None:
        if len(self._known) >= _CACHE_ENTRIES_MAX:
            self._known.clear()
        self._known[header] = (user, self._now() + CACHE_TTL_S)


def _token(header: str) -> str:
    """The token of an `Authorization` header, or nothing."""
    scheme, _, rest = header.strip().partition(" ")
    return rest.split(" ", 1)[0] if scheme.lower() == "bearer" else ""
