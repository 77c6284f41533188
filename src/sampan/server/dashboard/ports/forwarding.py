"""`PortForwarding`: requests below a link become requests to the subresource `proxy` with its session.

They pass all further filters: the user is authenticated and authorized in each request. The audit log has the path of
the subresource, not that of the link.

The proxied page may be hostile. It runs in a sandbox, so its origin is opaque: its requests are cross-site and have no
cookie. The secret in the path permits them, and opens one port only. A request that a sandboxed page cannot have sent
is refused, such as one of another site, or of a script of the dashboard.
"""

import re
from typing import Final

import msgspec

from sampan.core.errors import Reason, StatusError, forbidden
from sampan.core.gvk import GroupResource
from sampan.server.dashboard.ending import end_with
from sampan.server.dashboard.headers import NO_STORE
from sampan.server.dashboard.origin import BACKGROUND_HEADER, PAGE_HEADER
from sampan.server.dashboard.ports.links import PortLinks
from sampan.server.dashboard.sessions import Sessions
from sampan.server.proxy.browsers import SANDBOX
from sampan.server.request import Handler, Headers, Request, Response
from sampan.server.request_info import parse_target
from sampan.server.secret_paths import PORT_LINKS
from sampan.server.websocket import wants_websocket

_LINKS: Final = GroupResource("", "dashboard/ports")
_PATH: Final = re.compile(re.escape(PORT_LINKS) + r"([-\w]{43})(/.*)?", re.ASCII | re.DOTALL)
_REMOVED: Final = frozenset({"authorization", "audit-id", "cookie", PAGE_HEADER, BACKGROUND_HEADER})
_REMOVED_PREFIXES: Final = ("impersonate-", "x-remote-")
_HEADERS: Final = (
    SANDBOX,
    NO_STORE,
    (b"Referrer-Policy", b"no-referrer"),
    # The resources of a page come from another origin than the page, which is opaque.
    (b"Cross-Origin-Resource-Policy", b"cross-origin"),
    (b"Access-Control-Allow-Origin", b"null"),
    (b"Access-Control-Allow-Credentials", b"true"),
)


class PortForwarding:
    """Handler of the paths below links."""

    def __init__(self, links: PortLinks, sessions: Sessions) -> None:
        self._links = links
        self._sessions = sessions

    async def handle(self, request: Request, handler: Handler) -> Response:
        """Return the response of the port, by `handler`, or to a preflight. Raises `StatusError`: 403, 404."""
        request.response_headers = (*request.response_headers, *_HEADERS)
        found = _PATH.fullmatch(request.wire.raw_path)
        link = self._links.find(found[1], request.wire.client_address) if found else None
        if found is None or link is None or not self._sessions.is_valid(link.session):
            raise StatusError(Reason.NOT_FOUND, 404, "this link has ended: open the port again in the dashboard")
        _check_origin(request)
        root, rest = f"{PORT_LINKS}{found[1]}", found[2]
        if rest is None:
            return Response(307, content_type="", headers=[(b"Location", f"{root}/".encode())])
        if request.wire.method == "OPTIONS" and "access-control-request-method" in request.headers:
            return _preflight(request)
        _direct(request, f"{link.port.path}{rest}")
        request.session, request.shown_below = link.session, root
        response = await handler(request)
        end_with(link, response)
        return response


def _check_origin(request: Request) -> None:
    """Raise `StatusError` 403 for a request that neither a sandboxed page nor the address bar sends."""
    headers = request.headers
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site == "cross-site":
        is_permitted = origin in (None, "null")
    elif site is None:  # browsers send no metadata with WebSockets, but always the origin
        is_permitted = wants_websocket(request) and origin == "null"
    else:
        is_document = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")
        is_permitted = site in ("same-origin", "none") and is_document and request.wire.method == "GET"
    if not is_permitted:
        raise forbidden(_LINKS, "", "a link to a port is for the window of a browser that the dashboard has opened")


def _preflight(request: Request) -> Response:
    """Return the response to a preflight: a sandboxed page may send any request to its port."""
    headers: Headers = [
        (b"Access-Control-Allow-" + name, value.encode("latin-1"))
        for name, requested in ((b"Methods", "method"), (b"Headers", "headers"))
        if (value := request.headers.get(f"access-control-request-{requested}"))
    ]
    return Response(204, content_type="", headers=headers)


def _direct(request: Request, raw_path: str) -> None:
    """Give a request another target, and remove what is for this server alone."""
    wire = request.wire
    query = f"?{wire.query_string}" if wire.query_string else ""
    target = parse_target(wire.method, (raw_path + query).encode("latin-1"))
    request.wire = msgspec.structs.replace(
        wire,
        path=target.path,
        query_string=target.query_string,
        query=target.query,
        raw_path=target.raw_path,
        long_running=target.long_running,
    )
    request.info = target.info
    request.headers = {
        name: value
        for name, value in request.headers.items()
        if name not in _REMOVED and not name.startswith(_REMOVED_PREFIXES)
    }
