"""The seams of authentication, and the names that Kubernetes gives to everybody and nobody."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sampan.server.request import Request, UserInfo

ANONYMOUS = "system:anonymous"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


class Authenticator(Protocol):
    """Finds out who sent a request."""

    def recall(self, request: Request) -> UserInfo | None:
        """The user, if that is remembered and still holds; without waiting. None: ask `authenticate`."""

    async def authenticate(self, request: Request) -> UserInfo | None:
        """The user, or None when the request carries nothing that this authenticator knows.

        Raises `StatusError` (401) when it carries something that is wrong; other authenticators are still asked, and
        the request is refused when none of them knows the user.
        """


class TokenError(Exception):
    """A token is wrong. The text says why, without the token; it is for TokenReviews, not for who sent the token.

    `annotations` are for the audit event of the request.
    """

    def __init__(self, text: str, annotations: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.annotations = annotations or {}


@dataclass(frozen=True, slots=True)
class TokenUser:
    """Whose token it is, and what else it says."""

    user: UserInfo
    audiences: tuple[str, ...] | None = None
    """For whom the token is, as far as they were asked for; None: it names nobody, so it is for the API."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """For the audit event of the request."""
    warnings: tuple[str, ...] = ()
    """For the client."""


class TokenAuthenticator(Protocol):
    """Finds out whose bearer token this is."""

    cacheable: bool
    """Whether the answer may be remembered for a few seconds."""

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        """The user, or None when the token is not known here. Raises `TokenError`.

        `audiences`: the token must be for one of them; empty: for the API.
        """


def with_authenticated_group(user: UserInfo) -> UserInfo:
    """Everybody who is somebody is in `system:authenticated`.

    Source: apiserver pkg/authentication/group/authenticated_group_adder.go (1.36).
    """
    if user.name == ANONYMOUS or AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return UserInfo(user.name, user.uid, (*user.groups, AUTHENTICATED), user.extra)


def common(wanted: Iterable[str], present: Iterable[str]) -> tuple[str, ...]:
    """Those of the wanted audiences that are present, in their order."""
    known = set(present)
    return tuple(audience for audience in wanted if audience in known)
