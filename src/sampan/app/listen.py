"""Listening sockets and the addresses at which clients reach them."""

import ipaddress
import socket
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sampan.core.settings import ValueKind, setting

KEEPALIVE_S = 180
"""Silence after which the system probes a connection, and interval of its probes, in seconds.

Source: apiserver pkg/server/secure_serving.go (1.36).
"""
bind_setting = partial(
    setting,
    "",
    "Address to listen on.",
    aliases=("bind-address",),
    default="127.0.0.1; with --node-runtime cri: 0.0.0.0, as Pods cannot reach loopback addresses",
)
advertise_setting = partial(
    setting,
    "",
    "Address in the endpoints of the Service kubernetes.",
    kind=ValueKind("IP", lambda text: str(ipaddress.ip_address(text)) if text else ""),
    default="that of --bind",
)
_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a bound TCP socket. Its connections detect lost clients by keepalive. Raises `OSError`."""
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
    """Return the IP address at which other machines reach a bound socket.

    For a wildcard address this is the source address of outgoing connections.
    """
    host = str(sock.getsockname()[0]).partition("%")[0]
    address = ipaddress.ip_address(host)
    if not address.is_unspecified:
        return host
    return _address_for(sock.family) or ("127.0.0.1" if address.version == 4 else "::1")


def own_address() -> str:
    """Return the source address of outgoing connections, or a loopback address without a route."""
    return _address_for(socket.AF_INET) or _address_for(socket.AF_INET6) or "127.0.0.1"


def address_towards(host: str) -> str:
    """Return the source address of connections to a host; `own_address` if its name or route is unknown."""
    try:
        found = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)
    except OSError:
        return own_address()
    for family, _, _, _, address in found:
        source = _source_address(family, address)
        if source is not None:
            return source
    return own_address()


def _address_for(family: int) -> str | None:
    """Return the source address of outgoing connections; without a default route, that of a connected network."""
    somewhere = "192.0.2.1" if family == socket.AF_INET else "2001:db8::1"
    networks = _connected_networks() if family == socket.AF_INET else ()
    found = (_source_address(family, (host, 9)) for host in (somewhere, *networks))
    return next(filter(None, found), None)


def _connected_networks() -> Sequence[str]:
    """Return an address of each connected IPv4 network; last those of bridges, which other machines rarely reach.

    Source: Linux net/ipv4/fib_trie.c fib_route_seq_show.
    """
    try:
        lines = Path("/proc/net/route").read_text().splitlines()[1:]
    except OSError:
        return ()
    routes = [line.split() for line in lines]
    connected = [(name, words) for name, *words in routes if int(words[1], 16) == 0 and int(words[0], 16) != 0]
    connected.sort(key=lambda route: Path("/sys/class/net", route[0], "bridge").exists())
    # The numbers are in the byte order of the machine.
    numbers = (int(words[0], 16).to_bytes(4, sys.byteorder) for _, words in connected)
    return [str(ipaddress.IPv4Address(number) + 1) for number in numbers]


def _source_address(family: int, address: tuple[Any, ...]) -> str | None:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(address)  # Chooses a route; nothing is sent.
            return str(probe.getsockname()[0]).partition("%")[0]
    except OSError:
        return None


def client_host(bind: str) -> str:
    """Return the host with which a client on this machine reaches a listening address."""
    try:
        address = ipaddress.ip_address(bind)
    except ValueError:
        return bind
    if address.is_unspecified:
        return "127.0.0.1" if address.version == 4 else "[::1]"
    return bind if address.version == 4 else f"[{bind}]"


def serving_hosts(bind: str) -> Sequence[str]:
    """Return the names in the serving certificate, besides the addresses of the Service `kubernetes`.

    Other machines reach a server on a wildcard address at the address that it advertises.
    """
    hosts = [*_NAMES, "127.0.0.1", "::1", bind]
    families = {"0.0.0.0": (socket.AF_INET,), "::": (socket.AF_INET, socket.AF_INET6)}
    hosts += filter(None, map(_address_for, families.get(bind, ())))
    hostname = socket.gethostname()
    if hostname and hostname.isascii() and "_" not in hostname:
        hosts.append(hostname)
    return tuple(dict.fromkeys(hosts))
