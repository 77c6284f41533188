"""TLS of the server: versions, ALPN, and client certificates that are asked for but not required."""

import ssl
from collections.abc import Sequence
from pathlib import Path


def server_context(certificate: Path, key: Path, client_ca_files: Sequence[Path]) -> ssl.SSLContext:
    """The context of the serving socket.

    A client without a certificate passes; one whose certificate no client CA has signed fails in its own handshake and
    disturbs nobody else. HTTP/1.1 is the only protocol offered. Raises `OSError`, `ssl.SSLError`.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_COMPRESSION | ssl.OP_NO_RENEGOTIATION
    context.load_cert_chain(certificate, key)
    if client_ca_files:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        for file in client_ca_files:
            context.load_verify_locations(cafile=file)
    return context
