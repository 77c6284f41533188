"""Requests without credentials are `system:anonymous`."""

from sampan.server.authentication.authenticator import ANONYMOUS, UNAUTHENTICATED
from sampan.server.request import Request, UserInfo

ANONYMOUS_USER = UserInfo(ANONYMOUS, groups=(UNAUTHENTICATED,))


class AnonymousAuthenticator:
    """Knows everybody as nobody; stands last."""

    def recall(self, request: Request) -> UserInfo | None:
        return ANONYMOUS_USER

    async def authenticate(self, request: Request) -> UserInfo | None:
        return ANONYMOUS_USER
