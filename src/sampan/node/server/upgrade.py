"""Upgrades of requests to WebSocket or SPDY/3.1.

Source: streaming pkg/httpstream/{httpstream.go,spdy/upgrade.go,wsstream/conn.go} (1.36).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from sampan.http.server import AnyResponse, Request, Response, Takeover, Tunnel
from sampan.node.server.channels import MESSAGE_BYTES_MAX
from sampan.wire.websocket import (
    VERSION,
    BadHandshake,
    BadProtocol,
    BadVersion,
    WebSocket,
    accept_upgrade,
    wants_websocket,
)

SPDY: Final = "SPDY/3.1"
_PROTOCOL: Final = "x-stream-protocol-version"

ServeWebSocket = Callable[[WebSocket], Awaitable[None]]
ServeSpdy = Callable[[Tunnel, str], Awaitable[None]]
"""Serves the upgraded connection with the negotiated protocol."""


def is_websocket(request: Request) -> bool:
    """Return whether a request is an upgrade to WebSocket."""
    return wants_websocket(request.headers)


def accept_websocket(request: Request, protocols: Sequence[str], serve: ServeWebSocket) -> AnyResponse:
    """Return the response to a WebSocket request, with one of these sub-protocols."""
    try:
        protocol, fields = accept_upgrade(request.method, request.headers, protocols)
    except BadVersion as error:
        return Response(400, f"{error}\n".encode(), headers={"sec-websocket-version": VERSION})
    except BadHandshake as error:
        return Response(403 if isinstance(error, BadProtocol) else 400, f"{error}\n".encode())

    async def take_over(tunnel: Tunnel) -> None:
        await serve(WebSocket(tunnel, protocol, message_bytes_max=MESSAGE_BYTES_MAX))

    return Takeover(fields, take_over)


def accept_spdy(request: Request, protocols: Sequence[str], serve: ServeSpdy) -> AnyResponse:
    """Return the response to a SPDY request, with one of these stream protocols."""
    headers = request.headers
    if _PROTOCOL not in headers:
        return _refused(400, f"header X-Stream-Protocol-Version does not exist in request with {len(headers)} headers")
    desired = [name.strip() for name in headers[_PROTOCOL].split(",") if name.strip()]
    protocol = next((name for name in desired if name in protocols), None)
    if protocol is None:
        text = f"unable to negotiate protocol: client supports {desired}, server accepts {list(protocols)}"
        return _refused(403, text, {"x-accepted-stream-protocol-versions": ", ".join(protocols)})
    upgrades = "upgrade" in headers.get("connection", "").lower()
    if not upgrades or SPDY.lower() not in headers.get("upgrade", "").lower():
        return _refused(400, "missing upgrade headers in request")

    async def take_over(tunnel: Tunnel) -> None:
        await serve(tunnel, protocol)

    return Takeover({"upgrade": SPDY, _PROTOCOL: protocol}, take_over)


def _refused(code: int, text: str, headers: dict[str, str] | None = None) -> Response:
    return Response(code, f"unable to upgrade: {text}\n".encode(), headers=headers or {})
