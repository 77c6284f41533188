"""Names of `sampan.http` that programs use with a client."""

from sampan.http.address import ProxyAddress, ServerAddress
from sampan.http.settings import HttpSettings
from sampan.http.tls import ClientCertificate, TlsOptions
from sampan.http.transport import HttpTransport

__all__ = ["ClientCertificate", "HttpSettings", "HttpTransport", "ProxyAddress", "ServerAddress", "TlsOptions"]
