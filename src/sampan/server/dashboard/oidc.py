"""`OidcLogin`: login at an issuer of OpenID Connect, with the authorization code flow and PKCE.

    GET /dashboard/login/oidc?return=/dashboard/pods      -> 303 to the issuer
    GET /dashboard/login/oidc/callback?code=…&state=…     -> 303 to the page, with the cookie of a session

The id token becomes the credential of the session, so it is verified like any bearer token, in each request.

What an attacker can send:

- A callback that this browser has not begun: `state` is known only for the cookie of the same login, and once.
- A code of another login: the issuer requires the verifier of PKCE, and the id token must have the nonce.
- A return path to another site: only paths of the page are followed.

Source: RFC 6749, RFC 7636, RFC 9700; OpenID Connect Core 1.0.
"""

import base64
import hashlib
import logging
import secrets
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from sampan.core.addresses.url import split_url
from sampan.core.clock import unix_time
from sampan.core.errors import StatusError, method_not_allowed, too_many_requests
from sampan.server.authentication.jwt.https import FetchError, HttpsGet
from sampan.server.authentication.jwt.keys import WELL_KNOWN
from sampan.server.dashboard.authenticator import CredentialVerifier
from sampan.server.dashboard.headers import COMMON, FILE_POLICY, NO_STORE
from sampan.server.dashboard.login import Logins, claims_of
from sampan.server.dashboard.origin import cookie_value
from sampan.server.dashboard.sessions import Credentials
from sampan.server.proxy.browsers import COOKIE_PREFIX
from sampan.server.request import Request, Response

_log = logging.getLogger("sampan.dashboard")

PATH: Final = "/dashboard/login/oidc"
CALLBACK: Final = "/dashboard/login/oidc/callback"
VALID_S: Final = 600.0
"""Time for the login at the issuer."""
PENDING_MAX: Final = 1000
"""Maximum number of logins that have begun at the same time."""
_HOME: Final = "/dashboard/"
_FAILED: Final = "/dashboard/login?error=oidc"


@dataclass(frozen=True, slots=True)
class OidcIssuer:
    """Issuer at which users log in, and this server as its client."""

    url: str
    client_id: str
    ca_pem: str = ""
    """CA certificates of the issuer's server; empty: those of the system."""
    discovery_url: str = ""
    client_secret: str = field(default="", repr=False)
    """Empty for a public client, which PKCE protects alone."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")


@dataclass(frozen=True, slots=True)
class _Pending:
    """Login that has begun."""

    binding: str
    """Digest of the cookie of the browser that has begun it."""
    verifier: str = field(repr=False)
    nonce: str = field(repr=False)
    back: str
    expires: float


class OidcLogin:
    """Handler of the paths."""

    def __init__(self, issuer: OidcIssuer, logins: Logins, verifier: CredentialVerifier) -> None:
        self._issuer = issuer
        self._logins = logins
        self._verifier = verifier
        self._https = HttpsGet(issuer.ca_pem, timeout_s=10.0)
        self._pending: dict[str, _Pending] = {}

    async def handle(self, request: Request) -> Response:
        """Return a redirect, to the issuer or back to the page. Raises `StatusError`: 405, 429."""
        if request.wire.method != "GET":
            raise method_not_allowed()
        try:
            return await (self._end(request) if request.wire.path == CALLBACK else self._begin(request))
        except (FetchError, _Refused) as error:
            _log.warning("login by OIDC failed", extra={"issuer": self._issuer.url, "error": str(error)})
        except StatusError as error:
            if error.code != 401:
                raise
            _log.warning("login by OIDC failed: id token not accepted", extra={"issuer": self._issuer.url})
        return _redirect(_FAILED)

    async def _begin(self, request: Request) -> Response:
        now = unix_time()
        self._pending = {state: each for state, each in self._pending.items() if each.expires > now}
        if len(self._pending) >= PENDING_MAX:
            raise too_many_requests("too many logins have begun; try again later", 60)
        endpoint = (await self._metadata())["authorization_endpoint"]
        state, binding, verifier, nonce = (secrets.token_urlsafe(32) for _ in range(4))
        back = safe_path(request.wire.param("return"))
        self._pending[_digest(state)] = _Pending(_digest(binding), verifier, nonce, back, now + VALID_S)
        query = {
            "response_type": "code",
            "client_id": self._issuer.client_id,
            "redirect_uri": _callback(request),
            "scope": " ".join(self._issuer.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": _digest(verifier),
            "code_challenge_method": "S256",
        }
        response = _redirect(f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}")
        response.headers.append(_binding_cookie(binding, int(VALID_S)))
        return response

    async def _end(self, request: Request) -> Response:
        """Exchange the code for an id token, and begin a session."""
        param = request.wire.param
        pending = self._pending.pop(_digest(param("state")), None)
        binding = cookie_value(request, _BINDING)
        if pending is None or pending.expires <= unix_time() or pending.binding != _digest(binding):
            raise _Refused("no login of this browser has this state")
        if not param("code"):
            raise _Refused("the issuer sent no code")
        token = await self._exchange(request, param("code"), pending)
        if claims_of(token).get("nonce") != pending.nonce:
            raise _Refused("the id token is of another login")
        credentials = Credentials(token=token)
        user = await self._verifier.verify(request, credentials)
        begun = self._logins.begin(request, credentials, user, 303)
        cookies = [header for header in begun.headers if header[0] == b"Set-Cookie"]
        response = _redirect(pending.back)
        response.headers += [*cookies, _binding_cookie("", 0)]
        return response

    async def _exchange(self, request: Request, code: str, pending: _Pending) -> str:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": _callback(request),
            "client_id": self._issuer.client_id,
            "code_verifier": pending.verifier,
        }
        if self._issuer.client_secret:
            form["client_secret"] = self._issuer.client_secret
        status, body = await self._https.post_form((await self._metadata())["token_endpoint"], form)
        reply = _object(body)
        token = reply.get("id_token")
        if status != 200 or not isinstance(token, str):
            reason = str(reply.get("error", "no id token"))[:100]
            raise _Refused(f"the token endpoint responded with {status} and {reason}")
        if not token.isascii() or token.split() != [token]:
            raise _Refused("the id token is no token")
        return token

    async def _metadata(self) -> dict[str, str]:
        """Return the endpoints of the issuer. Raises `FetchError`, `_Refused`."""
        issuer = self._issuer
        found = _object(await self._https(issuer.discovery_url or issuer.url.rstrip("/") + WELL_KNOWN))
        if found.get("issuer") != issuer.url:
            raise _Refused("the discovery document is of another issuer")
        endpoints = {name: str(found.get(name, "")) for name in ("authorization_endpoint", "token_endpoint")}
        if not all(map(_is_https, endpoints.values())):
            raise _Refused("an endpoint of the issuer is no https URL")
        return endpoints


class _Refused(Exception):
    """The login failed. The text is for the log, and has no secrets."""


def safe_path(path: str) -> str:
    """Return a path of the page; for all other texts, its first path."""
    good = path.startswith(_HOME) and path.isascii() and path.isprintable() and not set(path) & set('\\ "<>')
    return path if good and ".." not in path and "//" not in path.partition("?")[0] else _HOME


_BINDING: Final = f"{COOKIE_PREFIX}-login"


def _binding_cookie(value: str, age_s: int) -> tuple[bytes, bytes]:
    """Return the cookie that binds a login to a browser. It is `Lax`, because the issuer's page leads back here."""
    return b"Set-Cookie", f"{_BINDING}={value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={age_s}".encode()


def _callback(request: Request) -> str:
    return f"https://{request.headers.get('host', '')}{CALLBACK}"


def _redirect(location: str) -> Response:
    headers = [*COMMON, FILE_POLICY, NO_STORE, (b"Location", location.encode("latin-1", "replace"))]
    return Response(303, content_type="", headers=headers)


def _digest(text: str) -> str:
    """Return the SHA-256 in base64url without padding, as PKCE requires it."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _is_https(url: str) -> bool:
    try:
        return split_url(url).scheme == "https" and url.isprintable()
    except ValueError:
        return False


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = orjson.loads(body)
    except ValueError:
        raise _Refused("the issuer sent no JSON") from None
    return found if isinstance(found, dict) else {}
