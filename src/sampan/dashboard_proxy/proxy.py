"""`DashboardProxy`: the handler of all requests to `sampan dashboard`.

From top to bottom: the host name must be one of this process. Then the page and its logins are served. All other
requests need the session of the page, and go to the cluster.

The session has no credential: those of the kubeconfig stay in this process, and are added to requests on their way.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from sampan import __version__
from sampan.core.errors import StatusError, internal_error, unauthorized
from sampan.core.tracebacks import forget_frames
from sampan.dashboard_proxy.cluster_user import ClusterUser
from sampan.dashboard_proxy.connection import ClusterConnection
from sampan.dashboard_proxy.forward import ClusterForwarder
from sampan.dashboard_proxy.namespaces import NamespacesReview
from sampan.server.dashboard.administration import PATH as SESSIONS
from sampan.server.dashboard.administration import Administration
from sampan.server.dashboard.authenticator import CredentialVerifier
from sampan.server.dashboard.documentation import PATH as DOCS
from sampan.server.dashboard.documentation import Documentation
from sampan.server.dashboard.ending import end_with
from sampan.server.dashboard.files import PageFiles
from sampan.server.dashboard.headers import COMMON, FILE_POLICY, NO_STORE, TO_SESSIONS
from sampan.server.dashboard.links import LoginLinks
from sampan.server.dashboard.login import LoginPage, Logins
from sampan.server.dashboard.login_records import LoginRecords
from sampan.server.dashboard.origin import (
    BACKGROUND_HEADER,
    HTTP,
    ServedHosts,
    cookie_name,
    cookie_value,
    is_from_page,
    is_own_socket,
)
from sampan.server.dashboard.sessions import Session, Sessions
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.dashboard.stream.multiplex import PATH as STREAM
from sampan.server.dashboard.stream.multiplex import StreamEndpoint
from sampan.server.request import Request, Response, UserInfo
from sampan.server.status import status_response

_log = logging.getLogger("sampan.dashboard")

PATH: Final = "/dashboard/"
STATIC: Final = "/dashboard/static/"
SESSION: Final = "/dashboard/session"
FEATURES: Final = ("stream", "namespaces")
"""Abilities of this process that the page may use. It opens no ports of Pods: nothing is passed to them."""
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names at which browsers of this machine reach it."""


@dataclass(frozen=True, slots=True)
class ProxyPage:
    """Address of the page, and the receiver of its links."""

    scheme: str = HTTP
    hosts: Callable[[], Collection[str]] = field(default=lambda: LOOPBACK)
    """Returns the host names that browsers may use."""
    announce: Callable[[str], None] = field(default=lambda code: None)
    """Gets the code of a link that logs in once, when a browser needs one."""


class LinksOnly:
    """Authenticator without users: sessions begin with a link alone."""

    def recall(self, request: Request) -> UserInfo | None:
        """Return no user."""
        return None

    async def authenticate(self, request: Request) -> UserInfo | None:
        """Return no user."""
        return None


class DashboardProxy:
    """Page, sessions and requests of one cluster. `run` must be running."""

    def __init__(self, connection: ClusterConnection, found: ClusterUser, page: ProxyPage) -> None:
        self._page = page
        self._user = found.user
        self.sessions = Sessions(DashboardSettings())
        self.links = LoginLinks()
        self.files = PageFiles()
        self._documentation = Documentation()
        self._hosts = ServedHosts(page.hosts, hint="open the link that `sampan dashboard` has printed")
        verifier = CredentialVerifier(LinksOnly())
        described = LoginPage(
            page.scheme,
            accepts_tokens=False,
            version=f"{__version__} · Kubernetes {found.version}",
            features=FEATURES,
            context=connection.name,
        )
        self._logins = Logins(self.sessions, self.links, verifier, LoginRecords(None), page=described)
        self._administration = Administration(self.sessions)
        self._stream = StreamEndpoint(verifier, self.handle, page.scheme)
        self._forwarder = ClusterForwarder(connection)
        self._namespaces = NamespacesReview(connection, self._forwarder.forward)

    async def run(self) -> None:
        """End sessions in time until cancelled."""
        await self.sessions.run()

    def announce_link(self) -> None:
        """Make a new link and announce it."""
        self._page.announce(self.links.create(self._user))

    async def handle(self, request: Request) -> Response:
        """Return the response to any request."""
        try:
            self._hosts.check(request)
            self._find_session(request)
            response = await self._served(request)
        except StatusError as error:
            response = status_response(error, request)
            response.headers += [*COMMON, FILE_POLICY, NO_STORE]
        except ConnectionError:
            raise
        except Exception as error:
            _log.exception("request failed", extra={"method": request.wire.method, "path": request.wire.path})
            forget_frames(error)
            response = status_response(internal_error("`sampan dashboard` failed; its log has the reason"), request)
            response.headers += [*COMMON, FILE_POLICY, NO_STORE]
        return response

    def _find_session(self, request: Request) -> None:
        """Set `request.session` if a script of the page sends the request."""
        is_socket = is_own_socket(request, self._page.scheme)
        if not is_socket and not is_from_page(request):
            return
        value = cookie_value(request, cookie_name(request, self._page.scheme))
        if value:
            # The page opens its socket again by itself.
            background = is_socket or BACKGROUND_HEADER in request.headers
            request.session = self.sessions.use(value, background=background)

    async def _served(self, request: Request) -> Response:
        path = request.wire.path
        if path in ("/", PATH[:-1], DOCS[:-1]):
            location = DOCS if path == DOCS[:-1] else PATH
            return Response(307, content_type="", headers=[*COMMON, NO_STORE, (b"Location", location.encode())])
        if path.startswith(STATIC):
            return self.files.file(request, path.removeprefix(STATIC))
        if path.startswith(DOCS):
            return await self._documentation.handle(request)
        if path == STREAM:
            return await self._stream.handle(request)
        if path == SESSION:
            return await self._log_in(request)
        if path.startswith(PATH) and not _is_administration(path):
            return self.files.shell(request)
        return await self._of_session(request)

    async def _log_in(self, request: Request) -> Response:
        """Serve the session. A visit without one announces a link, unless one is valid that was not used."""
        session = request.session
        if request.wire.method == "GET" and (session is None or session.ended) and not self.links:
            self.announce_link()
        return await self._logins.handle(request)

    async def _of_session(self, request: Request) -> Response:
        """Serve a request that needs a session. **Raises** `StatusError`."""
        session = request.session
        if not isinstance(session, Session) or session.ended:
            raise unauthorized()
        if _is_administration(request.wire.path):
            response = await self._administration.handle(request)
        else:
            response = await self._namespaces.handle(request)
        response.headers += TO_SESSIONS
        end_with(session, response)
        return response


def _is_administration(path: str) -> bool:
    return path == SESSIONS or path.startswith(f"{SESSIONS}/")
