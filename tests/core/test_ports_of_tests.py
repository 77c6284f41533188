"""Ports for servers of tests: free, different, and not those that the kernel gives to others."""

import socket
from pathlib import Path

from tests.ports import free_ports


def test_ports_are_different_and_free() -> None:
    ports = free_ports(200)
    assert len(set(ports)) == 200
    for port in ports[:20]:
        socket.create_server(("127.0.0.1", port)).close()


def test_the_kernel_gives_none_of_them_to_a_connection() -> None:
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert max(free_ports(100)) < first
