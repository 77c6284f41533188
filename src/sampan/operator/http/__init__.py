"""Small HTTP/1.1 server for the endpoints of an operator (probes, metrics, webhooks) and of a node."""

from sampan.http.tunnel import Tunnel
from sampan.operator.http.exchange import Answer, AnyAnswer, HttpLimits, Request, Respond, StreamedAnswer, Takeover
from sampan.operator.http.listener import HttpListener

__all__ = [
    "Answer",
    "AnyAnswer",
    "HttpLimits",
    "HttpListener",
    "Request",
    "Respond",
    "StreamedAnswer",
    "Takeover",
    "Tunnel",
]
