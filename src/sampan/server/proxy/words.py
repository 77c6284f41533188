"""Texts of connection errors. They are those of Go's dialler, because clients match them."""

import errno
import socket
import ssl

from sampan.core.addresses.dial import AddressNotAllowed
from sampan.registry.webhook.certificate_texts import UNTRUSTED, certificate_text, tls_text
from sampan.server.proxy.target import ProxyTarget

_ERRNO = {
    errno.ECONNREFUSED: "connect: connection refused",
    errno.ECONNRESET: "read: connection reset by peer",
    errno.EHOSTUNREACH: "connect: no route to host",
    errno.ENETUNREACH: "connect: network is unreachable",
    errno.EPIPE: "write: broken pipe",
}


def dial_text(target: ProxyTarget, error: Exception) -> str:
    """Return the reason why there is no connection to `target`."""
    return connection_text(target.host, target.dialled, error)


def connection_text(host: str, dialled: str, error: Exception) -> str:
    """Return the reason why there is no connection to `dialled`, the address and port of `host`."""
    if isinstance(error, AddressNotAllowed):
        return str(error)
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    if isinstance(error, ssl.SSLCertVerificationError):
        is_unknown = error.verify_code in UNTRUSTED
        return certificate_text("certificate signed by unknown authority" if is_unknown else error.verify_message)
    if isinstance(error, ssl.SSLError):
        return tls_text(error)
    if isinstance(error, TimeoutError):
        return f"dial tcp {dialled}: i/o timeout"
    return f"dial tcp {dialled}: {_text(error)}"


def _text(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number is None and isinstance(error, ConnectionRefusedError):
        number = errno.ECONNREFUSED
    known = _ERRNO.get(number or 0)
    if known is not None:
        return known
    return str(getattr(error, "strerror", None) or error)
