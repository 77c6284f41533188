"""TLS context of a node's server, with a self-signed certificate, and optional client certificates."""

import datetime as dt
import ssl
from typing import Final

from sampan.core.time import Clock
from sampan.core.tls.certificates import make_authority, make_server_certificate
from sampan.core.tls.cipher_suites import use_suites
from sampan.core.tls.trust import trust
from sampan.http.client.tls import ClientCertificate, load_certificate
from sampan.node.server.options import NodeServerOptions

_LIFETIME: Final = dt.timedelta(days=365)


def serving_context(options: NodeServerOptions, clock: Clock) -> ssl.SSLContext:
    """Return a TLS context with a new self-signed certificate. Raises `ssl.SSLError` for malformed authorities."""
    now = clock.now()
    name = options.node_name or "node"
    authority = make_authority(f"{name}-ca", now, _LIFETIME)
    hosts = list(options.addresses) or ["localhost", "127.0.0.1"]
    shown = make_server_certificate(authority, hosts, now, _LIFETIME, common_name=name)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    use_suites(context)
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    load_certificate(context, ClientCertificate(shown.certificate_pem(), shown.key_pem()))
    if options.client_ca:
        trust(context, options.client_ca)
        context.verify_mode = ssl.CERT_OPTIONAL
    return context
