"""HTTP/1.1 of the client: kept-alive connections with bounds, TLS, proxies, streams."""

from sampan.client.http.address import ProxyAddress, ServerAddress
from sampan.client.http.settings import HttpSettings
from sampan.client.http.tls import ClientCertificate, TlsOptions
from sampan.client.http.transport import HttpTransport

__all__ = ["ClientCertificate", "HttpSettings", "HttpTransport", "ProxyAddress", "ServerAddress", "TlsOptions"]
