"""`LoginLinks`: codes of links that log a browser in, once."""

import hashlib
import secrets
from typing import Final

from sampan.core.clock import unix_time
from sampan.server.authentication.authenticator import with_authenticated_group
from sampan.server.request import UserInfo

VALID_S: Final = 600.0
"""Time in which a code can be used."""
_CODES_MAX: Final = 100


class LoginLinks:
    """Codes that were not used yet. They are stored as digests, and are no part of any URL that a browser sends."""

    def __init__(self) -> None:
        self._codes: dict[bytes, tuple[UserInfo, float]] = {}

    def create(self, user: UserInfo) -> str:
        """Return a code that logs in as this user, once within `VALID_S` seconds."""
        self._sweep()
        if len(self._codes) >= _CODES_MAX:
            del self._codes[next(iter(self._codes))]
        code = secrets.token_urlsafe(24)
        self._codes[_digest(code)] = (with_authenticated_group(user), unix_time() + VALID_S)
        return code

    def take(self, code: str) -> UserInfo | None:
        """Return the user of a code, which cannot be used again; None if it is not valid."""
        self._sweep()
        user, _ = self._codes.pop(_digest(code), (None, 0.0))
        return user

    def __bool__(self) -> bool:
        self._sweep()
        return bool(self._codes)

    def _sweep(self) -> None:
        now = unix_time()
        self._codes = {digest: entry for digest, entry in self._codes.items() if entry[1] > now}


def _digest(code: str) -> bytes:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).digest()
