"""Filters of headers in both directions, and the head of the forwarded request.

Source: Go net/http/httputil/reverseproxy.go, apimachinery pkg/util/proxy/upgradeaware.go (1.36); RFC 9110, 7.6.1.
"""

from collections.abc import Mapping

from sampan.core.telemetry.tracing import trace_headers
from sampan.server.proxy.browsers import without_sessions
from sampan.server.proxy.target import ProxyTarget
from sampan.server.request import Headers, Request
from sampan.wire.http1 import fits, request_head

_OF_THE_CONNECTION = frozenset(
    {
        "connection",
        "content-length",
        "expect",
        "http2-settings",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_CREDENTIALS = ("authorization", "impersonate-", "x-remote-")
"""Prefixes of headers for this server only. An upstream that received them could act as the client."""
_PROTOCOLS = "sec-websocket-protocol"
_BEARER = "base64url.bearer.authorization.k8s.io."
"""Prefix of a WebSocket sub-protocol that carries a token, as browsers send it."""
_KEPT_BACK = frozenset(
    name.encode()
    for name in (
        *_OF_THE_CONNECTION,
        "access-control-allow-credentials",
        "access-control-allow-headers",
        "access-control-allow-methods",
        "access-control-allow-origin",
        "audit-id",
        "date",
    )
)


def upgrade_of(headers: Mapping[str, str]) -> str:
    """Return the protocols that the client requests an upgrade to, or an empty string."""
    desired = headers.get("upgrade", "").strip()
    return desired if "upgrade" in _named(headers.get("connection", "")) else ""


def forwarded(request: Request, target: ProxyTarget) -> dict[str, str]:
    """Return the client's headers to forward, without those that frame the body."""
    dropped = _OF_THE_CONNECTION | target.removed | _named(request.headers.get("connection", ""))
    headers = {
        name: value
        for name, value in request.headers.items()
        if name not in dropped and not name.startswith(_CREDENTIALS) and not name.startswith(":")
    }
    cookies = headers.get("cookie")
    if cookies is not None:
        headers["cookie"] = without_sessions(cookies)
        if not headers["cookie"]:
            del headers["cookie"]
    host = request.headers.get("host", "")
    headers["host"] = target.authority or host or target.netloc
    if request.wire.client_address:
        before = headers.get("x-forwarded-for")
        headers["x-forwarded-for"] = (
            f"{before}, {request.wire.client_address}" if before else request.wire.client_address
        )
    if target.prefix is not None:
        # The path of a link is a secret. The upstream could write it to a log.
        headers["x-forwarded-uri"] = target.path if request.shown_below else target.prefix + target.path
        headers["x-forwarded-proto"] = "https"
        if host:
            headers["x-forwarded-host"] = host
    protocols = headers.get(_PROTOCOLS, "")
    if _BEARER in protocols:
        others = [name for name in protocols.split(",") if not name.strip().startswith(_BEARER)]
        headers[_PROTOCOLS] = ",".join(others).strip()
    return headers | trace_headers() | dict(target.headers)


def head_of(method: str, target: ProxyTarget, headers: Mapping[str, str]) -> bytes:
    """Return the head of a request, with the empty line. Headers that would break it, which HTTP/2 permits, are
    dropped.
    """
    path = (target.path or "/") + (f"?{target.query}" if target.query else "")
    lines = [(name, value) for name, value in headers.items() if fits(name, value)]
    lines += [(name, value.encode().decode("latin-1")) for name, value in target.lines if fits(name, value)]
    return request_head(method, _printable(path), lines, encoding="latin-1")


def forwarded_response(headers: Headers) -> tuple[str, Headers]:
    """Return the content type and the other headers of a response to forward."""
    dropped = _KEPT_BACK | {
        name.strip().lower()
        for header, value in headers
        if header.lower() == b"connection"
        for name in value.split(b",")
    }
    content_type = first(headers, b"content-type")
    return content_type, [
        (name, value) for name, value in headers if name.lower() not in dropped and name.lower() != b"content-type"
    ]


def switched(headers: Headers) -> Headers:
    """Return the headers of a 101 to forward."""
    lowered = _KEPT_BACK - {b"connection", b"upgrade"}
    return [(name, value) for name, value in headers if name.lower() not in lowered]


def first(headers: Headers, name: bytes) -> str:
    """Return the first header with this lower-case name, or an empty string."""
    for header, value in headers:
        if header.lower() == name:
            return value.decode("latin-1")
    return ""


def _named(connection: str) -> frozenset[str]:
    return frozenset(name.strip().lower() for name in connection.split(","))


def _printable(text: str) -> str:
    """Percent-encode characters that would end a request line or a part of it."""
    return "".join(c if "!" <= c <= "~" or c >= "\x80" else f"%{ord(c):02X}" for c in text)
