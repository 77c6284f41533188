"""Network namespaces with a node, endpoints behind a bridge, and a client outside: as a small cluster has them.

    client 172.30.0.1 --- 172.30.0.11 node, cni0 10.244.1.1 --- a 10.244.1.2, b 10.244.1.3
                                           far0 10.244.2.1 --- c 10.244.2.2 (an endpoint on another node)

IPv6 has the same shape: fd00:30::, fd00:1::, fd00:2::.
"""

import contextlib
import ctypes
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")

CLONE_NEWNET = 0x40000000
TIMEOUT_S = 0.3
PORT = 8080
CLUSTER_IPS = ("10.96.0.0/12", "fd00:96::/112")
PACKAGES = {"nft": "nftables", "ip": "iproute2"}


def skip_unless_possible() -> None:
    """Skip where the machine cannot make network namespaces or rules. On Debian, root installs what is missing."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces and nftables need root")
    missing = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if missing and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "--yes", "--quiet", *missing], capture_output=True, check=False)
    absent = [package for program, package in PACKAGES.items() if shutil.which(program) is None]
    if absent:
        pytest.skip(f"needs the packages {', '.join(absent)}")


class Namespace:
    """A network namespace. `call` runs a function in it; sockets made there stay in it."""

    def __init__(self, name: str) -> None:
        self.name = f"sampan-{os.getpid()}-{name}"
        self.ip("netns", "add", self.name, inside=False)
        self._thread = ThreadPoolExecutor(1, initializer=self.enter)
        self.ip("link", "set", "lo", "up")

    def enter(self) -> None:
        """Move the calling thread into the namespace."""
        libc = ctypes.CDLL(None, use_errno=True)
        with Path("/run/netns", self.name).open() as handle:
            if libc.setns(handle.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")

    def call(self, work: Callable[[], T]) -> T:
        """Run a function in the namespace."""
        return self._thread.submit(work).result()

    def ip(self, *words: str, inside: bool = True) -> None:
        """Run the program `ip`."""
        where = ("-n", self.name) if inside else ()
        subprocess.run(["ip", *where, *words], check=True, capture_output=True)

    def address(self, device: str, *addresses: str) -> None:
        """Give a device its addresses and set it up."""
        for each in addresses:
            self.ip("address", "add", each, "dev", device, *(["nodad"] if ":" in each else []))
        self.ip("link", "set", device, "up")

    def close(self) -> None:
        """Delete the namespace and everything in it."""
        self._thread.shutdown()
        self.ip("netns", "delete", self.name, inside=False)


class Endpoint:
    """A server that answers with its name and the address of its client, over TCP and UDP."""

    def __init__(self, name: str, namespace: Namespace, address: str, address6: str) -> None:
        self.name, self.address, self.address6 = name, address, address6
        self.namespace = namespace
        self._sockets = namespace.call(self._open)
        for each, serve in zip(self._sockets, (self._serve_tcp, self._serve_udp), strict=True):
            threading.Thread(target=serve, args=(each,), daemon=True).start()

    def close(self) -> None:
        """End the server."""
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _open(self) -> tuple[socket.socket, socket.socket]:
        udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        udp.bind(("::", PORT))
        return socket.create_server(("::", PORT), family=socket.AF_INET6, dualstack_ipv6=True), udp

    def _serve_tcp(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, client = server.accept()
                with connection:
                    connection.sendall(self._response(client))

    def _serve_udp(self, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                _, client = server.recvfrom(100)
                if client is None:  # the socket is shut down
                    return
                server.sendto(self._response(client), client)

    def _response(self, client: tuple[str, int]) -> bytes:
        return f"{self.name} {client[0].removeprefix('::ffff:')}".encode()


class Lab:
    """The namespaces and servers of a test module."""

    def __init__(self, client: Namespace, node: Namespace, a: Endpoint, b: Endpoint, c: Endpoint) -> None:
        self.client, self.node, self.a, self.b, self.c = client, node, a, b, c

    def tcp(self, origin: Namespace, address: str, port: int) -> str:
        """Return the answer to a connection: name of the endpoint and the client's address as the endpoint sees it.

        "refused" if it is reset, "dropped" if there is no answer.
        """

        def connect() -> str:
            try:
                with socket.create_connection((address, port), TIMEOUT_S) as connection:
                    return connection.recv(100).decode()
            except ConnectionRefusedError:
                return "refused"
            except TimeoutError:
                return "dropped"

        return origin.call(connect)

    def names(self, origin: Namespace, address: str, port: int, count: int = 12) -> set[str]:
        """Return the names of the endpoints that answer to several connections."""
        return {self.tcp(origin, address, port).split(" ")[0] for _ in range(count)}


@contextmanager
def lab() -> Iterator[Lab]:
    """Make the namespaces, and delete them at the end."""
    with contextlib.ExitStack() as stack:
        spaces = {}
        for name in ("client", "node", "a", "b", "c"):
            spaces[name] = Namespace(name)
            stack.callback(spaces[name].close)
        node, client = spaces["node"], spaces["client"]
        _wire(node, "up0", client, "eth0")
        node.address("up0", "172.30.0.11/24", "fd00:30::11/64")
        client.address("eth0", "172.30.0.1/24", "fd00:30::1/64")
        for range_ in CLUSTER_IPS:
            client.ip("route", "add", range_, "via", "fd00:30::11" if ":" in range_ else "172.30.0.11")
        for router in ("172.30.0.1", "fd00:30::1"):  # a node needs some route to a cluster IP, before it changes
            node.ip("route", "add", "default", "via", router)
        node.ip("link", "add", "cni0", "type", "bridge")
        node.address("cni0", "10.244.1.1/24", "fd00:1::1/64")
        endpoints = []
        for name, number in (("a", 2), ("b", 3)):
            _wire(node, f"veth{number}", spaces[name], "eth0")
            node.ip("link", "set", f"veth{number}", "master", "cni0", "up")
            # A bridge must return a frame on the port that it came from, for an endpoint that reaches itself.
            node.ip("link", "set", f"veth{number}", "type", "bridge_slave", "hairpin", "on")
            endpoints.append((name, f"10.244.1.{number}", f"fd00:1::{number}"))
        _wire(node, "far0", spaces["c"], "eth0")
        node.address("far0", "10.244.2.1/24", "fd00:2::1/64")
        endpoints.append(("c", "10.244.2.2", "fd00:2::2"))
        servers = []
        for name, address, address6 in endpoints:
            spaces[name].address("eth0", f"{address}/24", f"{address6}/64")
            spaces[name].ip("route", "add", "default", "via", f"{address.rpartition('.')[0]}.1")
            spaces[name].ip("route", "add", "default", "via", f"{address6.rpartition('::')[0]}::1")
            servers.append(Endpoint(name, spaces[name], address, address6))
            stack.callback(servers[-1].close)
        yield Lab(client, node, *servers)


def _wire(node: Namespace, device: str, other: Namespace, peer: str) -> None:
    node.ip("link", "add", device, "type", "veth", "peer", "name", peer, "netns", other.name)
    node.ip("link", "set", device, "up")
