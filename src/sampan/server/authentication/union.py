"""`UnionAuthenticator`: tries authenticators in order.

Source: apiserver pkg/authentication/request/union/union.go, kubeapiserver authenticator/config.go (1.36).
"""

from collections.abc import Sequence

from sampan.core.errors import StatusError
from sampan.server.authentication.anonymous import ANYWHERE, AnonymousAuthenticator
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.request import Request, UserInfo


class UnionAuthenticator:
    """Returns the user of the first authenticator that finds one.

    Invalid credentials are refused even if anonymous requests are allowed.
    """

    def __init__(
        self, authenticators: Sequence[Authenticator], *, anonymous: AnonymousAuthenticator | None = ANYWHERE
    ) -> None:
        """`anonymous` is None if every request needs credentials."""
        self._authenticators = tuple(authenticators)
        self._anonymous = anonymous

    def recall(self, request: Request) -> UserInfo | None:
        """Return the user from the first authenticator that has it in its cache."""
        for authenticator in self._authenticators:
            user = authenticator.recall(request)
            if user is not None:
                return user
        return None

    async def authenticate(self, request: Request) -> UserInfo | None:
        refused: StatusError | None = None
        for authenticator in self._authenticators:
            try:
                user = await authenticator.authenticate(request)
            except StatusError as error:
                refused = error
            else:
                if user is not None:
                    return user
        if refused is not None:
            raise refused
        return await self._anonymous.authenticate(request) if self._anonymous else None
