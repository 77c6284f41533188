"""`Logins`: /dashboard/session, where a page shows its user, logs in and logs out.

These requests have no user, so they pass neither authorization nor flow control. At most `CHECKS_MAX` credentials are
verified at a time, and each address may fail a few times only.
"""

import base64
import binascii
import contextlib
import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

import orjson

from sampan.core.errors import (
    StatusError,
    bad_request,
    forbidden,
    method_not_allowed,
    too_many_requests,
    unauthorized,
    unsupported_media_type,
)
from sampan.core.gvk import GroupResource
from sampan.core.time import format_time
from sampan.server.dashboard.authenticator import CredentialVerifier
from sampan.server.dashboard.headers import COMMON, FILE_POLICY, NO_STORE
from sampan.server.dashboard.links import LoginLinks
from sampan.server.dashboard.login_limit import LoginLimit
from sampan.server.dashboard.login_records import LoginRecords
from sampan.server.dashboard.origin import HTTPS, cookie_name, is_from_page
from sampan.server.dashboard.sessions import Credentials, Session, Sessions
from sampan.server.request import Headers, Request, Response, UserInfo
from sampan.server.routes.version import GIT_VERSION

CHECKS_MAX: Final = 16
FEATURES: Final = ("stream", "namespaces", "ports", "impersonation", "search")
"""Abilities of this server that the page may use."""
_TOKEN: Final = "token"
_BODY_BYTES_MAX: Final = 64 << 10
_SESSION: Final = GroupResource("", "dashboard/session")
_OTHER_SITE: Final = "only the dashboard's page may send this request"


@dataclass(frozen=True, slots=True)
class LoginPage:
    """Description of a server for the page that it serves."""

    scheme: str = HTTPS
    """Scheme of its origin."""
    accepts_tokens: bool = True
    """Users can log in with bearer tokens."""
    version: str = GIT_VERSION
    features: tuple[str, ...] = FEATURES
    context: str = ""
    """Name of the context of the kubeconfig whose cluster the page shows; empty: the server's own cluster."""

    @property
    def server(self) -> dict[str, Any]:
        """Return the description in the session's document."""
        described: dict[str, Any] = {"version": self.version, "features": list(self.features)}
        return {**described, "context": self.context} if self.context else described


class Logins:
    """Handler of the path."""

    def __init__(
        self,
        sessions: Sessions,
        links: LoginLinks,
        verifier: CredentialVerifier,
        records: LoginRecords,
        more: tuple[str, ...] = (),
        page: LoginPage = LoginPage(),
    ) -> None:
        """`more` are further ways to log in: `oidc`. `page` describes the server for its page."""
        self._page = page
        self._sessions = sessions
        self._records = records
        self._limit = LoginLimit()
        self._links = links
        self._verifier = verifier
        self._more = more
        self._checks = 0

    async def handle(self, request: Request) -> Response:
        """Return the session, begin or end one. Raises `StatusError`: 400, 401, 403, 405, 415, 429."""
        method = request.wire.method
        if method in ("GET", "HEAD"):
            return await self._show(request)
        if not is_from_page(request):
            raise forbidden(_SESSION, "", _OTHER_SITE)
        if method == "POST":
            return await self._log_in(request)
        if method == "DELETE":
            return await self._log_out(request)
        raise method_not_allowed()

    async def _show(self, request: Request) -> Response:
        session = request.session
        if isinstance(session, Session) and not session.ended:
            try:
                user = await self._verifier.verify(request, session.credentials)
            except StatusError:
                self._sessions.end(session)
            else:
                return _json(200, self._document(session, user))
        return _json(401, {"logins": await self._ways(request)})

    async def _log_in(self, request: Request) -> Response:
        """Begin a session with a new cookie, whatever cookie the request has."""
        if not request.headers.get("content-type", "").startswith("application/json"):
            raise unsupported_media_type("the body must be application/json")
        found = _decoded(await request.wire.read_body(_BODY_BYTES_MAX))
        async with self.attempt(request, _way_of(found)):
            credentials = self._credentials(request, found)
            user = await self.verified(request, credentials)
        return await self.begin(request, credentials, user, 201)

    @contextlib.asynccontextmanager
    async def attempt(self, request: Request, method: str) -> AsyncIterator[None]:
        """Run a login in the block: count and record its failure. **Raises** `StatusError` 429 after too many."""
        address = request.wire.client_address
        try:
            self._limit.check(address)
            yield
        except StatusError as error:
            if error.code == 401:
                self._limit.failed(address)
            if error.code in (401, 429):
                await self._records.failed(request, method, error)
            raise

    async def verified(self, request: Request, credentials: Credentials) -> UserInfo:
        """Return the user of a credential. **Raises** `StatusError` 401, and 429 if many are verified now."""
        if self._checks >= CHECKS_MAX:
            raise too_many_requests("too many logins at this moment; try again later", 1)
        self._checks += 1
        try:
            return await self._verifier.verify(request, credentials)
        finally:
            self._checks -= 1

    async def begin(self, request: Request, credentials: Credentials, user: UserInfo, status: int) -> Response:
        """Return the response with the cookie of a new session. The session of the old cookie ends."""
        if isinstance(request.session, Session):
            self._sessions.end(request.session)
        value, session = self._sessions.begin(
            credentials,
            user,
            until=expiry_of(credentials.token),
            address=request.wire.client_address,
            agent=request.headers.get("user-agent", ""),
        )
        await self._records.succeeded(request, credentials.way, user, status)
        age = max(round((session.ends if credentials.refresh_token else session.expires) - session.began), 0)
        response = _json(status, self._document(session, user))
        response.headers.append(self._cookie(request, value, age))
        return response

    async def _log_out(self, request: Request) -> Response:
        session = request.session
        if isinstance(session, Session):
            if not session.ended:
                await self._records.succeeded(request, "logout", session.user, 204)
            self._sessions.end(session)
        response = _json(204, None)
        response.headers.append(self._cookie(request, "", 0))
        return response

    def _credentials(self, request: Request, found: Any) -> Credentials:
        """Return the credential in a body. **Raises** `StatusError`: 400, 401."""
        match found:
            case {"token": str(token), **more} if not more:
                token = token.strip()
                if not self._page.accepts_tokens or not token or not token.isascii() or token.split() != [token]:
                    raise unauthorized()
                return Credentials(token=token)
            case {"link": str(code), **more} if not more:
                user = self._links.take(code)
                if user is None:
                    raise unauthorized()
                return Credentials(user=user)
            case {"certificate": True, **more} if not more:
                if request.wire.client_certificate is None:
                    raise unauthorized()
                return _certificate_of(request)
        raise bad_request('the body must be {"token": …}, {"link": …} or {"certificate": true}')

    async def _ways(self, request: Request) -> list[str]:
        """Return the logins that can work for this client."""
        tokens = [_TOKEN] if self._page.accepts_tokens else []
        ways = [*tokens, *(["link"] if self._links else []), *self._more]
        if request.wire.client_certificate is not None:
            try:
                await self._verifier.verify(request, _certificate_of(request))
            except StatusError:
                return ways
            ways.append("certificate")
        return ways

    def _document(self, session: Session, user: UserInfo) -> dict[str, Any]:
        return {
            "user": {"username": user.name, "groups": list(user.groups)},
            "expires": time_text(session.expires),
            "idleExpires": time_text(self._sessions.idle_expires(session)),
            "server": self._page.server,
        }

    def _cookie(self, request: Request, value: str, age_s: int) -> tuple[bytes, bytes]:
        secure = " Secure;" if self._page.scheme == HTTPS else ""
        name = cookie_name(request, self._page.scheme)
        return b"Set-Cookie", f"{name}={value}; Path=/;{secure} HttpOnly; SameSite=Strict; Max-Age={age_s}".encode()


def _decoded(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except ValueError:
        raise bad_request("the body is not JSON") from None


def _way_of(found: Any) -> str:
    """Return the kind of login of a body, as in `Credentials.way`."""
    names = found if isinstance(found, dict) else {}
    return next((name for name in ("link", "certificate") if name in names), "token")


def expiry_of(token: str) -> float | None:
    """Return when a token expires, in seconds since the epoch; None if it is no JWT or does not expire.

    Its signature is not verified here: an authenticator has accepted the token.
    """
    expiry = claims_of(token).get("exp")
    return float(expiry) if isinstance(expiry, int | float) else None


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a JWT without verification; empty if it is none."""
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = orjson.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}


def time_text(seconds: float) -> str:
    """Return a time in RFC 3339, from seconds since the epoch."""
    return format_time(dt.datetime.fromtimestamp(seconds, dt.UTC))


def _certificate_of(request: Request) -> Credentials:
    return Credentials(certificate=request.wire.client_certificate, intermediates=request.wire.client_intermediates)


def _json(status: int, value: object) -> Response:
    headers: Headers = [*COMMON, FILE_POLICY, NO_STORE]
    if value is None:
        return Response(status, content_type="", headers=headers)
    return Response(status, orjson.dumps(value), headers=headers)
