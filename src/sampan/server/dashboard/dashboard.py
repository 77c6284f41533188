"""`Dashboard`: the filter that serves the page and its logins, and finds the session of each request.

It runs before authentication: the page is for clients without a user. All other requests pass on, with their session.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Final

from sampan.core.errors import StatusError, forbidden, method_not_allowed
from sampan.core.gvk import GroupResource
from sampan.server.audit.audit import Audit
from sampan.server.authentication.authenticator import Authenticator
from sampan.server.authentication.union import UnionAuthenticator
from sampan.server.authorization.authorizer import Authorizer
from sampan.server.dashboard.administration import PATH as SESSIONS
from sampan.server.dashboard.administration import Administration
from sampan.server.dashboard.authenticator import CredentialVerifier, SessionAuthenticator
from sampan.server.dashboard.documentation import PATH as DOCS
from sampan.server.dashboard.documentation import Documentation
from sampan.server.dashboard.ending import end_with
from sampan.server.dashboard.files import PageFiles
from sampan.server.dashboard.headers import COMMON, FILE_POLICY, NO_STORE, TO_SESSIONS
from sampan.server.dashboard.links import LoginLinks
from sampan.server.dashboard.login import Logins
from sampan.server.dashboard.login_records import LoginRecords
from sampan.server.dashboard.oidc import CALLBACK, OidcIssuer, OidcLogin
from sampan.server.dashboard.oidc import PATH as OIDC
from sampan.server.dashboard.origin import (
    BACKGROUND_HEADER,
    ServedHosts,
    cookie_name,
    cookie_value,
    host_of,
    is_forged,
    is_from_page,
    is_own_socket,
    may_have_session,
)
from sampan.server.dashboard.ports.endpoint import PATH as PORTS
from sampan.server.dashboard.ports.endpoint import PortEndpoint
from sampan.server.dashboard.ports.forwarding import PortForwarding
from sampan.server.dashboard.ports.links import PortLinks
from sampan.server.dashboard.roles import SuggestedRoles
from sampan.server.dashboard.sessions import Sessions
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.dashboard.stream.multiplex import PATH as STREAM
from sampan.server.dashboard.stream.multiplex import StreamEndpoint
from sampan.server.proxy.browsers import COOKIE_PREFIX
from sampan.server.request import Handler, Request, Response, UserInfo
from sampan.server.routes.routes import Routes
from sampan.server.secret_paths import PORT_LINKS
from sampan.server.status import status_response

PATH: Final = "/dashboard/"
STATIC: Final = "/dashboard/static/"
SESSION: Final = "/dashboard/session"
_OTHER_SITE: Final = GroupResource("", "requests")


class Dashboard:
    """Page, sessions and logins of one server. `run` must be running."""

    def __init__(
        self,
        settings: DashboardSettings,
        authenticators: Sequence[Authenticator],
        certified: Callable[[], Collection[str]],
        roles: SuggestedRoles,
        issuer: OidcIssuer | None = None,
        audit: Audit | None = None,
        *,
        authorizer: Authorizer,
    ) -> None:
        """`authenticators` verify the credentials of logins; `certified` returns the names of the serving
        certificates; `roles` names a role for a refused request; users can log in at `issuer`; `audit` records logins;
        `authorizer` decides on links to ports.
        """
        self._roles = roles
        self._port = settings.port
        self.sessions = Sessions(settings)
        self.links = LoginLinks()
        self.records = LoginRecords(audit)
        self.files = PageFiles()
        self.documentation = Documentation()
        self._hosts = ServedHosts(certified, settings.hosts)
        self._verifier = CredentialVerifier(UnionAuthenticator(authenticators, anonymous=None))
        self._logins = Logins(self.sessions, self.links, self._verifier, self.records, ("oidc",) if issuer else ())
        self._oidc = OidcLogin(issuer, self._logins, self._verifier) if issuer else None
        self.sessions.renewer = self._oidc.renew if self._oidc else None
        self._administration = Administration(self.sessions)
        self._stream: StreamEndpoint | None = None
        self.port_links = PortLinks()
        self._ports = PortEndpoint(self.port_links, self._verifier, authorizer, self.records)
        self._forwarding = PortForwarding(self.port_links, self.sessions)

    def serve_stream(self, handler: Handler) -> None:
        """Serve subscriptions by the handler of the whole server, which contains this filter."""
        self._stream = StreamEndpoint(self._verifier, handler)

    async def run(self) -> None:
        """End sessions and links in time until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.sessions.run(), name="dashboard sessions")
            await self.port_links.run()

    def link_line(self, address: str, user: UserInfo) -> str:
        """Return a line with a link that logs a browser in as this user, once. `address` is HOST:PORT."""
        link = f"https://{address}/dashboard/login#{self.links.create(user)}"
        return f"dashboard {link} (valid once, for 10 minutes)"

    def install(self, routes: Routes) -> None:
        """Add the paths that pass authentication and authorization."""
        routes.add(SESSIONS, self._administration.handle, listed=False)
        routes.add_prefix(f"{SESSIONS}/", self._administration.handle)

    def authenticator(self, fallback: Authenticator) -> Authenticator:
        """Return an authenticator of sessions, and of all other requests by `fallback`."""
        return SessionAuthenticator(fallback, self._verifier)

    def filter(self, handler: Handler) -> Handler:
        """Serve the page and its logins, and give each request its session."""

        async def filter_(request: Request) -> Response:
            path = request.wire.path
            own = _is_public(path)
            is_port = path.startswith(PORT_LINKS)
            if request.wire.client_certificate is not None and not is_port and is_forged(request):
                raise forbidden(_OTHER_SITE, "", "a page of another site may not use the client certificate")
            if self._port and not request.on_page_port:
                return self._elsewhere(request) if own else await handler(request)
            if is_port:
                self._hosts.check(request)
                return await self._forwarding.handle(request, handler)
            if not own and COOKIE_PREFIX not in request.headers.get("cookie", ""):
                return await handler(request)
            self._find_session(request, own=own)
            if own:
                return await self._serve(request)
            if request.session is None:
                return await handler(request)
            try:
                response = await handler(request)
            except StatusError as error:
                if error.code != 403:
                    raise
                raise self._roles.add_to(error, request.info) from None
            end_with(request.session, response)
            return response

        return filter_

    def _elsewhere(self, request: Request) -> Response:
        """Return the redirect to the port of the page. Raises `StatusError`: 405, 421 for another host."""
        if request.wire.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        self._hosts.check(request)
        host = f"[{name}]" if ":" in (name := host_of(request.headers.get("host", ""))) else name
        location = f"https://{host}:{self._port}{request.wire.raw_path}"
        headers = [*COMMON, FILE_POLICY, NO_STORE, (b"Location", location.encode("latin-1", "replace"))]
        return Response(307, content_type="", headers=headers)

    def _find_session(self, request: Request, *, own: bool) -> None:
        """Set `request.session` if the request is one of the page. Raises `StatusError` 421 for another host."""
        is_socket = is_own_socket(request)
        is_page = is_from_page(request) or is_socket
        if own or is_page:
            self._hosts.check(request)
        value = cookie_value(request, cookie_name(request)) if is_page else ""
        if value and may_have_session(request):
            # The page opens its socket again by itself.
            background = is_socket or BACKGROUND_HEADER in request.headers
            request.session = self.sessions.use(value, background=background)
            request.response_headers = (*request.response_headers, *TO_SESSIONS)

    async def _serve(self, request: Request) -> Response:
        """Return the response of a path that needs no user. Errors have the headers of the page too."""
        path = request.wire.path
        try:
            if path == PATH[:-1]:
                return Response(308, content_type="", headers=[*COMMON, NO_STORE, (b"Location", PATH.encode())])
            if path.startswith(STATIC):
                return self.files.file(request, path.removeprefix(STATIC))
            if path == DOCS[:-1]:
                return Response(308, content_type="", headers=[*COMMON, NO_STORE, (b"Location", DOCS.encode())])
            if path.startswith(DOCS):
                return await self.documentation.handle(request)
            if path == STREAM and self._stream is not None:
                return await self._stream.handle(request)
            if path in (OIDC, CALLBACK) and self._oidc is not None:
                return await self._oidc.handle(request)
            if path == PORTS:
                return await self._ports.handle(request)
            if path == SESSION:
                return await self._logins.handle(request)
            return self.files.shell(request)
        except StatusError as error:
            response = status_response(error, request)
            response.headers += [*COMMON, FILE_POLICY, NO_STORE]
            return response


def _is_public(path: str) -> bool:
    """Return True for a path that needs no user."""
    if not path.startswith(PATH):
        return path == PATH[:-1]
    return path != SESSIONS and not path.startswith(f"{SESSIONS}/")
