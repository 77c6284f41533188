"""A small HTTP/1.1 server for an operator's own endpoints: probes, metrics, webhooks."""

from sampan.operator.http.exchange import Answer, HttpLimits, Request, Respond
from sampan.operator.http.listener import HttpListener

__all__ = ["Answer", "HttpLimits", "HttpListener", "Request", "Respond"]
