"""In which words it is told that an upstream cannot be reached: those of Go's dialler, which clients know."""

import errno
import socket
import ssl

from sampan.server.proxy.target import Target

_ERRNO = {
    errno.ECONNREFUSED: "connect: connection refused",
    errno.ECONNRESET: "read: connection reset by peer",
    errno.EHOSTUNREACH: "connect: no route to host",
    errno.ENETUNREACH: "connect: network is unreachable",
    errno.EPIPE: "write: broken pipe",
}


def dial_text(target: Target, error: Exception) -> str:
    """Why there is no connection to `target`."""
    return connection_text(target.host, target.dialled, error)


def connection_text(host: str, dialled: str, error: Exception) -> str:
    """Why there is no connection to `dialled`, the address and port of `host`."""
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: x509: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"tls: {error.reason or error}"
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
