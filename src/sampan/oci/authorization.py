"""Authorization at a registry: basic, or a token of the authorization server that the registry names.

Source: distribution spec/auth/token.md, spec/auth/oauth.md (v3).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from sampan.oci.credentials import RegistryCredentials
from sampan.oci.descriptor import from_bytes
from sampan.oci.errors import RegistryError
from sampan.oci.http_exchange import HttpExchange

CLIENT_ID: Final = "sampan"
_TOKEN_BYTES_MAX: Final = 1 << 20

_parameters = re.compile(r'([a-zA-Z_]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))').findall


@dataclass(frozen=True, slots=True)
class Challenge:
    """`WWW-Authenticate` of a registry."""

    scheme: str
    parameters: Mapping[str, str]

    @classmethod
    def parse(cls, header: str) -> "Challenge":
        """Return the challenge in a header field."""
        scheme, _, rest = header.strip().partition(" ")
        return cls(scheme.lower(), {name.lower(): quoted or bare for name, quoted, bare in _parameters(rest)})


async def authorize(
    exchange: HttpExchange, header: str, scope: str, credentials: RegistryCredentials | None, registry: str
) -> str:
    """Return the value of `Authorization` for a challenge. `scope`: `repository:team/boats:pull,push`.

    Raises `RegistryError` if the credentials do not suffice.
    """
    challenge = Challenge.parse(header)
    if challenge.scheme == "basic":
        if credentials is None or not credentials.user:
            raise RegistryError(f"{registry} requires a login: docker login {registry}", 401)
        return credentials.basic()
    realm = challenge.parameters.get("realm", "")
    if challenge.scheme != "bearer" or not realm:
        raise RegistryError(f"{registry} requires authentication of an unknown kind: {header[:100]!r}", 401)
    return f"Bearer {await _token(exchange, realm, challenge, scope, credentials, registry)}"


async def _token(
    exchange: HttpExchange,
    realm: str,
    challenge: Challenge,
    scope: str,
    credentials: RegistryCredentials | None,
    registry: str,
) -> str:
    fields = {"scope": challenge.parameters.get("scope") or scope}
    if service := challenge.parameters.get("service"):
        fields["service"] = service
    headers = {"accept": "application/json"}
    if credentials is not None and credentials.identity_token:
        form = {**fields, "grant_type": "refresh_token", "client_id": CLIENT_ID}
        body = urlencode({**form, "refresh_token": credentials.identity_token}).encode()
        headers["content-type"] = "application/x-www-form-urlencoded"
        response = await exchange.send("POST", realm, headers, body)
    else:
        if credentials is not None and credentials.user:
            headers["authorization"] = credentials.basic()
        response = await exchange.send("GET", f"{realm}{'&' if '?' in realm else '?'}{urlencode(fields)}", headers)
    content = await response.read(_TOKEN_BYTES_MAX)
    if response.status != 200:
        hint = "its login was refused" if credentials else f"it requires a login: docker login {registry}"
        raise RegistryError(f"{registry}: {hint} ({response.status} from {realm})", response.status)
    found = from_bytes(content, f"the response of {realm}")
    token = found.get("token") or found.get("access_token")
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable():
        raise RegistryError(f"{registry}: the response of {realm} has no token", response.status)
    return token
