"""Small HTTP/1.1 server for the endpoints of an operator (probes, metrics, webhooks) and of a node."""

from sampan.http.tunnel import Tunnel
from sampan.operator.http.exchange import (
    AnyResponse,
    HttpLimits,
    Request,
    Respond,
    Response,
    StreamedResponse,
    Takeover,
)
from sampan.operator.http.listener import HttpListener

__all__ = [
    "AnyResponse",
    "HttpLimits",
    "HttpListener",
    "Request",
    "Respond",
    "Response",
    "StreamedResponse",
    "Takeover",
    "Tunnel",
]
