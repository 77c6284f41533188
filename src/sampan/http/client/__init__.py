"""HTTP/1.1 for clients: `sampan.client`, and requests that the server and nodes send.

Read `transport.py` first: `HttpTransport` sends requests to one server, `HttpClient` (`client.py`) to any. Both use the
same classes for connections (`connection.py`), the pool and tunnels. They differ in trust, time limits, size limits and
allowed addresses (`dial.py`). `wire/http1` parses and writes messages.
"""

from sampan.http.client.address import ProxyAddress, ServerAddress
from sampan.http.client.client import HttpClient
from sampan.http.client.connection import Connection
from sampan.http.client.dial import Upstream
from sampan.http.client.errors import BodyTooLarge, ClientError, TransportError, TransportTimeout
from sampan.http.client.pending_response import PendingResponse
from sampan.http.client.pool import ConnectionPool
from sampan.http.client.request import Headers, HttpRequest, HttpResponse
from sampan.http.client.settings import HttpClientSettings
from sampan.http.client.tls import ClientCertificate, TlsOptions
from sampan.http.client.transport import HttpTransport
from sampan.http.tunnel import Tunnel

__all__ = [
    "BodyTooLarge",
    "ClientCertificate",
    "ClientError",
    "Connection",
    "ConnectionPool",
    "Headers",
    "HttpClient",
    "HttpClientSettings",
    "HttpRequest",
    "HttpResponse",
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
