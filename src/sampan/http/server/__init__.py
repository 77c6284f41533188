"""Small HTTP/1.1 server for the endpoints of an operator (probes, metrics, webhooks), of a node and of the proxy.

Read `listener.py` first, then `exchange.py`: requests, responses and limits.
"""

from sampan.http.server.exchange import (
    AnyResponse,
    HttpLimits,
    Request,
    Respond,
    Response,
    StreamedResponse,
    Takeover,
)
from sampan.http.server.listener import HttpListener
from sampan.http.tunnel import Tunnel

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
