"""Anonymous requests: a request without credentials gets the user `system:anonymous`.

Source: apiserver pkg/authentication/request/anonymous/anonymous.go (1.36).
"""

from collections.abc import Iterable

from sampan.server.authentication.authenticator import ANONYMOUS, UNAUTHENTICATED
from sampan.server.request import Request, UserInfo

ANONYMOUS_USER = UserInfo(ANONYMOUS, groups=(UNAUTHENTICATED,))


class AnonymousAuthenticator:
    """Authenticates all requests as anonymous, on some paths or on all. Must be the last authenticator."""

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._paths = frozenset(paths)

    def recall(self, request: Request) -> UserInfo | None:
        return ANONYMOUS_USER if not self._paths or request.wire.path in self._paths else None

    async def authenticate(self, request: Request) -> UserInfo | None:
        return self.recall(request)


ANYWHERE = AnonymousAuthenticator()
