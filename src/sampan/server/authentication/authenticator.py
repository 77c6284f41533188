"""The seams of authentication, and the names that Kubernetes gives to everybody and nobody."""

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


class TokenAuthenticator(Protocol):
    """Finds out whose bearer token this is."""

    cacheable: bool
    """Whether the answer may be remembered for a few seconds."""

    async def authenticate_token(self, token: str) -> UserInfo | None:
        """The user, or None when the token is not known here. Raises `StatusError` as `Authenticator` does."""


def with_authenticated_group(user: UserInfo) -> UserInfo:
    """Everybody who is somebody is in `system:authenticated`.

    Source: apiserver pkg/authentication/group/authenticated_group_adder.go (1.36).
    """
    if user.name == ANONYMOUS or AUTHENTICATED in user.groups or UNAUTHENTICATED in user.groups:
        return user
    return UserInfo(user.name, user.uid, (*user.groups, AUTHENTICATED), user.extra)
