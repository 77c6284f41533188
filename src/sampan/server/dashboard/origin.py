"""Requests of the dashboard's page, and the host names of this server.

Browsers send cookies with requests that other pages cause. So a cookie is valid only with what other pages cannot
send: a header of the page's scripts and the browser's own metadata, or for a WebSocket the exact origin.
"""

import re
from collections.abc import Callable, Collection
from typing import Final

from sampan.core.errors import Reason, StatusError
from sampan.server.proxy.browsers import COOKIE_PREFIX
from sampan.server.request import Request
from sampan.server.websocket import wants_websocket

HTTP, HTTPS = "http", "https"
"""Schemes of origins. Only `sampan dashboard` serves the page without TLS, on a loopback address."""
PLAIN_COOKIE: Final = "sampan"
"""Name of the cookie without TLS: browsers accept `COOKIE_PREFIX` with TLS only."""
PAGE_HEADER: Final = "x-sampan-page"
BACKGROUND_HEADER: Final = "x-sampan-background"
"""Header of requests that the page sends while it is unused."""
_REPORT: Final = re.compile(r"/api/v1/namespaces/[^/]+/pods/[^/]+/proxy/debug/controllers")
_HINT: Final = "see the option --dashboard-hosts"


def is_from_page(request: Request) -> bool:
    """Return True for a request of a script of a page of this origin."""
    headers = request.headers
    return headers.get(PAGE_HEADER) == "1" and headers.get("sec-fetch-site") == "same-origin"


def may_have_session(request: Request) -> bool:
    """Return True unless a request goes to a Pod, a Service or a node.

    Only the report of an operator's controllers has a session there: a script of the page reads it, as data.
    """
    if "proxy" not in (request.info.verb, request.info.subresource):
        return True
    is_report = request.wire.method == "GET" and _REPORT.fullmatch(request.wire.path) is not None
    return is_report and not wants_websocket(request)


def is_own_socket(request: Request, scheme: str = HTTPS) -> bool:
    """Return True for a WebSocket that a page of this origin opens. `scheme` is that of the origin."""
    headers = request.headers
    own = f"{scheme}://{headers.get('host', '')}"
    site = headers.get("sec-fetch-site", "same-origin")
    return wants_websocket(request) and headers.get("origin") == own and site == "same-origin"


def is_forged(request: Request) -> bool:
    """Return True if a page of another site changes something with the client certificate of the browser.

    Browsers send certificates with requests of any page. They send no `Authorization` header without a CORS preflight.
    """
    headers, wire = request.headers, request.wire
    return (
        wire.client_certificate is not None
        and headers.get("sec-fetch-site") in ("cross-site", "same-site")
        and "authorization" not in headers
        and (wire.method not in ("GET", "HEAD", "OPTIONS") or wants_websocket(request))
    )


def cookie_name(request: Request, scheme: str = HTTPS) -> str:
    """Return the name of the session's cookie. It contains the port, because cookies of one host have no port."""
    prefix = COOKIE_PREFIX if scheme == HTTPS else PLAIN_COOKIE
    port = request.headers.get("host", "").rpartition("]")[2].partition(":")[2]
    return f"{prefix}-{port}" if port and port.isdecimal() and port != "443" else prefix


def cookie_value(request: Request, name: str) -> str:
    """Return the value of a cookie; empty if the request does not have exactly one of this name."""
    cookies = request.headers.get("cookie", "")
    if name not in cookies:
        return ""
    pairs = [pair.strip().partition("=") for pair in cookies.split(";")]
    values = [value for found, _, value in pairs if found == name]
    return values[0] if len(values) == 1 else ""


class ServedHosts:
    """Host names of this server. A request for another one comes from a page of another site.

    An attacker's DNS server can give the attacker's name the address of this server, and so let a page of the attacker
    read the responses.
    """

    def __init__(
        self, certified: Callable[[], Collection[str]], more: Collection[str] = (), *, hint: str = _HINT
    ) -> None:
        """`certified` returns the names and IP addresses in the serving certificates. `hint` ends the refusal."""
        self._certified = certified
        self._more = frozenset(name.lower() for name in more)
        self._hint = hint

    def check(self, request: Request) -> None:
        """Raise `StatusError` 421 for another host."""
        host = host_of(request.headers.get("host", ""))
        names = {name.lower() for name in self._certified()} | self._more
        _, dot, parent = host.partition(".")
        if host not in names and not (dot and parent and f"*.{parent}" in names):
            raise StatusError(Reason.UNKNOWN, 421, f"this server has no such host name: {self._hint}")


def host_of(header: str) -> str:
    """Return the host in a `Host` header, in lower case, without port and brackets."""
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0].rstrip(".")
