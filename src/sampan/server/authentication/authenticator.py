"""Protocols of authenticators, and the names of the groups of authenticated and unauthenticated users."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sampan.server.request import Request, UserInfo

ANONYMOUS = "system:anonymous"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


class Authenticator(Protocol):
    """Finds the user of a request."""

    def recall(self, request: Request) -> UserInfo | None:
        """Return the cached user if it is still valid, else None. Does not wait; after None, call `authenticate`."""

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Return the user, or None if the request has no credentials of this authenticator's kind.

        Raises `StatusError` (401) for invalid credentials. The remaining authenticators are still tried, and the
        request is refused if none of them finds a user.
        """


class TokenError(Exception):
    """Invalid token. The text is the reason, without the token. TokenReviews contain it; the client does not see it.

    `annotations` are added to the audit event of the request.
    """

    def __init__(self, text: str, annotations: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.annotations = annotations or {}


@dataclass(frozen=True, slots=True)
class TokenUser:
    """User of a token, and the other results of its authentication."""

    user: UserInfo
    audiences: tuple[str, ...] | None = None
    """Requested audiences for which the token is valid. None if the token names no audience: it is valid for the API.
    """
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Added to the audit event of the request."""
    warnings: tuple[str, ...] = ()
    """Sent to the client."""


class TokenAuthenticator(Protocol):
    """Finds the user of a bearer token."""

    cacheable: bool
    """True if the result may be cached for a few seconds."""

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """Return the user, or None if the token is unknown. Raises `TokenError`.

        The token must be for one of the `audiences`. If there are none, it must be for the API.
        """


def with_authenticated_group(user: UserInfo) -> UserInfo:
    """Return the user as a member of `system:authenticated`, unless it is anonymous.

    Source: apiserver pkg/authentication/group/authenticated_group_adder.go (1.36).
    """
    if user.name == ANONYMOUS or AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return UserInfo(user.name, user.uid, (*user.groups, AUTHENTICATED), user.extra)


def common(desired: Iterable[str], present: Iterable[str]) -> tuple[str, ...]:
    """Return the audiences in `desired` that are present, in their order."""
    known = set(present)
    return tuple(audience for audience in desired if audience in known)
