"""Bearer tokens of browsers. A browser can set no header of a WebSocket request except its sub-protocols.

Source: apiserver pkg/authentication/request/websocket/protocol.go (1.36).
"""

import base64
import binascii
from collections.abc import Sequence

import msgspec

from sampan.core.errors import unauthorized
from sampan.server.authentication.authenticator import TokenAuthenticator
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.request import Request, UserInfo
from sampan.server.websocket import wants_websocket

PREFIX = "base64url.bearer.authorization.k8s.io."
_HEADER = "sec-websocket-protocol"


class WebSocketTokenAuthenticator:
    """Authenticates the sub-protocol `base64url.bearer.authorization.k8s.io.<token>`, and removes it from the request.

    The client must offer another sub-protocol too, which the server can select.
    """

    def __init__(self, authenticators: Sequence[TokenAuthenticator]) -> None:
        self._bearer = BearerTokenAuthenticator(authenticators)

    def recall(self, request: Request) -> UserInfo | None:
        """Return None: a WebSocket is opened once, so nothing is cached."""
        return None

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Return the token's user, or None if there is no token. Raises `StatusError` 401 for an invalid token."""
        if not wants_websocket(request):
            return None
        protocols = [name.strip() for name in request.headers.get(_HEADER, "").split(",")]
        tokens = [name.removeprefix(PREFIX) for name in protocols if name.startswith(PREFIX)]
        others = [name for name in protocols if name and not name.startswith(PREFIX)]
        if not any(tokens):
            return None
        if len(tokens) > 1 or not others:
            raise unauthorized()
        headers = {"authorization": f"Bearer {_decoded(tokens[0])}"}
        user = await self._bearer.authenticate(msgspec.structs.replace(request, headers=headers))
        if user is not None:
            request.headers[_HEADER] = ",".join(others)
        return user


def _decoded(text: str) -> str:
    """Decode a token from base64 without padding. Raises `StatusError` 401."""
    try:
        token = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise unauthorized() from None
    if not token or token.split() != [token]:
        raise unauthorized()
    return token
