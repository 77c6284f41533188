"""`SessionAuthenticator`: finds the user of a session, or leaves the request to the other authenticators.

A request with a session has the rights of its login alone: a client certificate of the browser does not count.
"""

import msgspec

from sampan.core.errors import unauthorized
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.dashboard.sessions import Credentials, Session
from sampan.server.request import Request, UserInfo


class CredentialVerifier:
    """Finds the user of a credential as if a request had it, so that an expired or revoked one is refused."""

    def __init__(self, authenticator: Authenticator) -> None:
        """`authenticator` finds no anonymous user."""
        self._authenticator = authenticator

    def recall(self, request: Request, credentials: Credentials) -> UserInfo | None:
        """Return the cached user, or None."""
        return credentials.user or self._authenticator.recall(_with(request, credentials))

    async def verify(self, request: Request, credentials: Credentials) -> UserInfo:
        """Return the user. **Raises** `StatusError` 401."""
        user = self.recall(request, credentials) or await self._authenticator.authenticate(_with(request, credentials))
        if user is None:
            raise unauthorized()
        return user


class SessionAuthenticator:
    """Authenticates the requests that have a session. `request.session` was found by the dashboard's filter."""

    def __init__(self, fallback: Authenticator, verifier: CredentialVerifier) -> None:
        self._fallback = fallback
        self._verifier = verifier

    def recall(self, request: Request) -> UserInfo | None:
        """Return the cached user if it is still valid, else None."""
        session = request.session
        if session is None:
            return self._fallback.recall(request)
        if session.ended or not isinstance(session, Session):
            return None
        return self._verifier.recall(request, session.credentials)

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Return the user of the session. Raises `StatusError` 401 if it has ended, or its credential is not valid."""
        session = request.session
        if session is None:
            return await self._fallback.authenticate(request)
        if session.ended or not isinstance(session, Session):
            raise unauthorized()
        return await self._verifier.verify(request, session.credentials)


def _with(request: Request, credentials: Credentials) -> Request:
    """Return the request as if the client had sent the credential, and no other."""
    wire = msgspec.structs.replace(
        request.wire,
        client_certificate=credentials.certificate,
        client_intermediates=credentials.intermediates,
    )
    headers = {"authorization": f"Bearer {credentials.token}"} if credentials.token else {}
    return msgspec.structs.replace(request, wire=wire, headers=headers)
