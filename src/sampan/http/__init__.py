"""HTTP/1.1 for clients: `sampan.client`, and requests that the server and nodes send.

`HttpTransport` sends requests to one server, `HttpClient` to any. Both use the same classes for connections, the pool
and tunnels. They differ in trust, time limits, size limits and allowed addresses (`dial.py`). `wire/http1` parses and
writes messages.
"""

from sampan.http.address import ProxyAddress, ServerAddress
from sampan.http.client import HttpClient
from sampan.http.connection import Connection
from sampan.http.dial import Upstream
from sampan.http.errors import BodyTooLarge, ClientError, TransportError, TransportTimeout
from sampan.http.pending_response import PendingResponse
from sampan.http.pool import ConnectionPool
from sampan.http.request import Headers, HttpRequest, HttpResponse
from sampan.http.settings import HttpSettings
from sampan.http.tls import ClientCertificate, TlsOptions
from sampan.http.transport import HttpTransport
from sampan.http.tunnel import Tunnel

__all__ = [
    "BodyTooLarge",
    "ClientCertificate",
    "ClientError",
    "Connection",
    "ConnectionPool",
    "Headers",
    "HttpClient",
    "HttpRequest",
    "HttpResponse",
    "HttpSettings",
    "HttpTransport",
    "PendingResponse",
    "ProxyAddress",
    "ServerAddress",
    "TlsOptions",
    "TransportError",
    "TransportTimeout",
    "Tunnel",
    "Upstream",
]
