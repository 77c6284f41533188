"""`OidcLogin`: login at an issuer of OpenID Connect, with the authorization code flow and PKCE.

    GET /dashboard/login/oidc?return=/dashboard/pods      -> 303 to the issuer
    GET /dashboard/login/oidc/callback?code=…&state=…     -> 303 to the page, with the cookie of a session

The id token becomes the credential of the session, so it is verified like any bearer token, in each request. If the
issuer gives a refresh token, the server renews the id token before it expires, for the same subject only.

What an attacker can send:

- A callback that this browser has not begun: `state` is known only for the cookie of the same login, and once.
- A code of another login: the issuer requires the verifier of PKCE, and the id token must have the nonce.
- A return path to another site: only paths of the page are followed.

Source: RFC 6749, RFC 7636, RFC 9700; OpenID Connect Core 1.0.
"""

import base64
import dataclasses
import hashlib
import logging
import secrets
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import orjson

from sampan.core.addresses.url import split_url
from sampan.core.clock import unix_time
from sampan.core.errors import Reason, StatusError, method_not_allowed, too_many_requests
from sampan.server.authentication.jwt.https import FetchError, HttpsGet
from sampan.server.authentication.jwt.keys import WELL_KNOWN
from sampan.server.dashboard.authenticator import CredentialVerifier
from sampan.server.dashboard.headers import COMMON, FILE_POLICY, NO_STORE
from sampan.server.dashboard.login import Logins, claims_of, expiry_of
from sampan.server.dashboard.login_limit import network_of
from sampan.server.dashboard.origin import cookie_value
from sampan.server.dashboard.sessions import Credentials, Session
from sampan.server.proxy.browsers import COOKIE_PREFIX
from sampan.server.request import Request, Response, WireRequest

_log = logging.getLogger("sampan.dashboard")

PATH: Final = "/dashboard/login/oidc"
CALLBACK: Final = "/dashboard/login/oidc/callback"
VALID_S: Final = 600.0
"""Time for the login at the issuer."""
PENDING_MAX: Final = 1000
"""Maximum number of logins that have begun at the same time."""
PENDING_OF_ADDRESS_MAX: Final = 100
"""Maximum number of them from one address."""
REFRESH_TOKEN_MAX: Final = 16 << 10
"""Maximum number of characters of a refresh token."""
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
    network: str
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
        except FetchError as error:
            _log.warning("login by OIDC failed", extra={"issuer": self._issuer.url, "error": str(error)})
        except StatusError as error:
            if error.code != 401:
                raise
            _log.warning("login by OIDC failed", extra={"issuer": self._issuer.url, "error": error.message})
        return _redirect(_FAILED)

    async def _begin(self, request: Request) -> Response:
        now = unix_time()
        self._pending = {state: each for state, each in self._pending.items() if each.expires > now}
        network = network_of(request.wire.client_address)
        own = sum(each.network == network for each in self._pending.values())
        if len(self._pending) >= PENDING_MAX or own >= PENDING_OF_ADDRESS_MAX:
            raise too_many_requests("too many logins have begun; try again later", 60)
        endpoint = (await self._metadata())["authorization_endpoint"]
        state, binding, verifier, nonce = (secrets.token_urlsafe(32) for _ in range(4))
        back = safe_path(request.wire.param("return"))
        self._pending[_digest(state)] = _Pending(_digest(binding), verifier, nonce, back, network, now + VALID_S)
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
        async with self._logins.attempt(request, "oidc"):
            credentials, pending = await self._finished(request)
            user = await self._logins.verified(request, credentials)
        begun = await self._logins.begin(request, credentials, user, 303)
        cookies = [header for header in begun.headers if header[0] == b"Set-Cookie"]
        response = _redirect(pending.back)
        response.headers += [*cookies, _binding_cookie("", 0)]
        return response

    async def _finished(self, request: Request) -> tuple[Credentials, _Pending]:
        """Return the credential of a login that has ended at the issuer. **Raises** `FetchError`, `StatusError` 401."""
        param = request.wire.param
        pending = self._pending.pop(_digest(param("state")), None)
        binding = cookie_value(request, _BINDING)
        if pending is None or pending.expires <= unix_time() or pending.binding != _digest(binding):
            raise _refused("no login of this browser has this state")
        if not param("code"):
            raise _refused("the issuer sent no code")
        form = {
            "grant_type": "authorization_code",
            "code": param("code"),
            "redirect_uri": _callback(request),
            "code_verifier": pending.verifier,
        }
        credentials = await self._exchange(form)
        if claims_of(credentials.token).get("nonce") != pending.nonce:
            raise _refused("the id token is of another login")
        return credentials, pending

    async def renew(self, session: Session) -> None:
        """Renew the id token of a session. If the issuer refuses, the session ends with its present token."""
        before = session.credentials
        try:
            renewed = await self._exchange({"grant_type": "refresh_token", "refresh_token": before.refresh_token})
            if _subject(renewed.token) != _subject(before.token):
                raise _refused("the id token is of another subject")
            user = await self._verifier.verify(_REQUEST, renewed)
        except FetchError as error:
            _log.warning("cannot renew a session; trying again", extra={"error": str(error)})
        except StatusError as error:
            _log.warning("renewal of a session refused", extra={"session": session.public_id, "error": error.message})
            session.credentials = dataclasses.replace(before, refresh_token="")
        else:
            if session.ended:
                return
            refresh_token = renewed.refresh_token or before.refresh_token
            session.credentials, session.user = dataclasses.replace(renewed, refresh_token=refresh_token), user
            session.set_expiry(expiry_of(renewed.token) or session.ends)

    async def _exchange(self, form: dict[str, str]) -> Credentials:
        """Return the tokens for a grant. **Raises** `FetchError`, `StatusError` 401."""
        form["client_id"] = self._issuer.client_id
        if self._issuer.client_secret:
            form["client_secret"] = self._issuer.client_secret
        status, body = await self._https.post_form((await self._metadata())["token_endpoint"], form)
        if status >= 500:
            raise FetchError(f"the token endpoint responded with {status}")
        reply = _object(body)
        token, refresh = reply.get("id_token"), reply.get("refresh_token", "")
        if status != 200 or not isinstance(token, str):
            reason = str(reply.get("error", "no id token"))[:100]
            raise _refused(f"the token endpoint responded with {status} and {reason}")
        if not token.isascii() or token.split() != [token]:
            raise _refused("the id token is no token")
        usable = isinstance(refresh, str) and len(refresh) <= REFRESH_TOKEN_MAX
        return Credentials(token=token, refresh_token=refresh if usable else "", is_oidc=True)

    async def _metadata(self) -> dict[str, str]:
        """Return the endpoints of the issuer. Raises `FetchError`, `StatusError` 401."""
        issuer = self._issuer
        found = _object(await self._https(issuer.discovery_url or issuer.url.rstrip("/") + WELL_KNOWN))
        if found.get("issuer") != issuer.url:
            raise _refused("the discovery document is of another issuer")
        endpoints = {name: str(found.get(name, "")) for name in ("authorization_endpoint", "token_endpoint")}
        if not all(map(_is_https, endpoints.values())):
            raise _refused("an endpoint of the issuer is no https URL")
        return endpoints


def _refused(text: str) -> StatusError:
    """Return the error of a login that failed. The text is for the logs, and has no secrets."""
    return StatusError(Reason.UNAUTHORIZED, 401, text)


def _subject(token: str) -> tuple[object, object]:
    claims = claims_of(token)
    return claims.get("iss"), claims.get("sub")


async def _no_body(limit: int) -> bytes:
    return b""


_REQUEST: Final = Request(WireRequest("GET", PATH, "", _no_body), {})
"""Request as which renewed tokens are verified."""


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
        raise _refused("the issuer sent no JSON") from None
    return found if isinstance(found, dict) else {}
