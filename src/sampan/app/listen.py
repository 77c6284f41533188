"""Addresses: bind a socket, and say how clients reach it."""

import ipaddress
import socket
from collections.abc import Sequence

KEEPALIVE_S = 180
"""How long a connection is silent before the system asks whether its client is still there, and between such questions.
Source: apiserver pkg/server/secure_serving.go (1.36).
"""
_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


def bind_socket(host: str, port: int) -> socket.socket:
    """A bound TCP socket, whose connections find out when their client is lost. Raises `OSError`."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL"):
            if hasattr(socket, name):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), KEEPALIVE_S)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        sock.bind(address)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock


def advertised_address(sock: socket.socket) -> str:
    """At which IP address others find a bound socket; of all addresses the one from which this machine asks others."""
    host = str(sock.getsockname()[0]).partition("%")[0]
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return host
    return _asking_address(sock.family) or ("127.0.0.1" if address.version == 4 else "::1")


def own_address() -> str:
    """The IP address from which this machine asks others; a loopback address where there are no others."""
    return _asking_address(socket.AF_INET) or _asking_address(socket.AF_INET6) or "127.0.0.1"


def _asking_address(family: int) -> str | None:
    somewhere = "192.0.2.1" if family == socket.AF_INET else "2001:db8::1"
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((somewhere, 9))  # Chooses a route; nothing is sent.
            return str(probe.getsockname()[0]).partition("%")[0]
    except OSError:
        return None


def client_host(bind: str) -> str:
    """How a client on this machine names an address to listen on."""
    try:
        address = ipaddress.ip_address(bind)
    except ValueError:
        return bind
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return bind if address.version == 4 else f"[{bind}]"


def serving_hosts(bind: str) -> Sequence[str]:
    """What the serving certificate names, beside the addresses of the Service `kubernetes`."""
    hosts = [*_NAMES, "127.0.0.1", "::1", bind]
    hostname = socket.gethostname()
    if hostname and hostname.isascii() and "_" not in hostname:
        hosts.append(hostname)
    return tuple(dict.fromkeys(hosts))
