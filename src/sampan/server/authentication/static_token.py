"""Static tokens: a CSV file `token,user,uid,"group1,group2"`, and the administrator's token.

Source: apiserver pkg/authentication/token/tokenfile/tokenfile.go (1.36).
"""

import csv
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from pathlib import Path

from sampan.server.authentication.authenticator import TokenUser
from sampan.server.request import UserInfo


class StaticTokenAuthenticator:
    """Compares the token's digest with every known digest in constant time, so that timing reveals nothing."""

    cacheable = True

    def __init__(self, tokens: Mapping[str, UserInfo]) -> None:
        self._users = [(_digest(token), user) for token, user in tokens.items()]

    async def authenticate_token(self, token: str, audiences: tuple[str, ...] = ()) -> TokenUser | None:
        digest = _digest(token)
        found = None
        for known, user in self._users:
            if hmac.compare_digest(known, digest):
                found = user
        return None if found is None else TokenUser(found)


def read_token_file(path: Path) -> dict[str, UserInfo]:
    """Read the tokens of a CSV file. If a token occurs several times, its last line applies. Raises `OSError`,
    `ValueError`.
    """
    with path.open(newline="", encoding="utf-8") as file:
        return parse_tokens(file, str(path))


def parse_tokens(lines: Iterable[str], source: str) -> dict[str, UserInfo]:
    """Parse CSV lines. Errors contain `source`. Raises `ValueError` for a line with fewer than three columns."""
    tokens: dict[str, UserInfo] = {}
    try:
        for record in csv.reader(lines, skipinitialspace=True, strict=True):
            if not record:
                continue
            if len(record) < 3:
                columns = "at least 3 columns (token, user name, user uid)"
                raise ValueError(f"token file '{source}' must have {columns}, found {len(record)}")
            token, name, uid = record[:3]
            if token:
                groups = tuple(record[3].split(",")) if len(record) > 3 else ()
                tokens[token] = UserInfo(name, uid, groups)
    except csv.Error as error:
        raise ValueError(f"token file '{source}': {error}") from error
    return tokens


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
