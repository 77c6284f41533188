"""A small HTTP/1.1 server for an operator's own endpoints (probes, metrics, webhooks) and for a node's."""

from sampan.operator.http.exchange import Answer, AnyAnswer, HttpLimits, Request, Respond, StreamedAnswer, Takeover
from sampan.operator.http.listener import HttpListener
from sampan.operator.http.tunnel import Tunnel

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
