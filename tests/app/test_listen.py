"""Addresses."""

import ipaddress
import os
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from typing import Any

import pytest

from sampan.app.listen import (
    KEEPALIVE_S,
    address_towards,
    advertised_address,
    bind_socket,
    client_host,
    own_address,
    serving_hosts,
)
from sampan.app.ports.bound_port import listen_address
from sampan.app.settings.up import UpSettings


@pytest.mark.parametrize(
    ("bind", "host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
        ("::1", "[::1]"),
        ("192.0.2.1", "192.0.2.1"),
        ("localhost", "localhost"),
    ],
)
def test_clients_on_this_machine_reach_it_there(bind: str, host: str) -> None:
    assert client_host(bind) == host


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({}, "127.0.0.1"),
        ({"node_runtime": "process"}, "127.0.0.1"),
        ({"node_runtime": "cri"}, "0.0.0.0"),
        ({"node_runtime": "cri", "nodes": 0}, "127.0.0.1"),
        ({"node_runtime": "cri", "bind": "192.0.2.1"}, "192.0.2.1"),
    ],
)
def test_server_with_containers_listens_where_they_reach_it(settings: dict[str, Any], address: str) -> None:
    assert listen_address(UpSettings(**settings)) == address


@pytest.mark.parametrize("bind", ["0.0.0.0", "::"])
def test_certificate_has_the_advertised_address(bind: str) -> None:
    with closing(bind_socket(bind, 0)) as sock:
        assert advertised_address(sock) in serving_hosts(bind)


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("ip"), reason="needs root and the program ip")
def test_address_of_a_machine_without_a_default_route_is_that_of_its_network() -> None:
    script = """
mount -t sysfs sysfs /sys; ip link add br0 type bridge; ip address add 192.0.2.65/26 dev br0; ip link set br0 up
ip link add eth0 type veth peer name eth1; ip link set eth1 up
ip address add 192.0.2.129/25 dev eth0; ip link set eth0 up
exec "$@"
"""
    call = "from sampan.app.listen import own_address; print(own_address())"
    command = ["unshare", "-nm", "sh", "-ec", script, "sh", sys.executable, "-c", call]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "192.0.2.129\n"


def test_the_certificate_names_the_service_and_the_address() -> None:
    hosts = serving_hosts("192.0.2.1")
    assert {"localhost", "127.0.0.1", "::1", "kubernetes.default.svc", "192.0.2.1"} <= set(hosts)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_the_address_towards_a_host_is_that_of_the_route_to_it(host: str) -> None:
    assert ipaddress.ip_address(address_towards(host)).is_loopback


def test_the_address_towards_an_unknown_host_is_that_of_the_default_route() -> None:
    assert address_towards("host.invalid") == own_address()


def test_a_free_port_is_found() -> None:
    with bind_socket("127.0.0.1", 0) as sock:
        assert sock.getsockname()[1] > 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere connections do not take it over from their listener")
def test_connections_find_out_when_their_client_is_lost() -> None:
    with bind_socket("127.0.0.1", 0) as listener:
        listener.listen()
        with socket.create_connection(listener.getsockname()):
            connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == KEEPALIVE_S


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_the_advertised_address_can_be_reached(host: str) -> None:
    with closing(bind_socket(host, 0)) as sock:
        address = ipaddress.ip_address(advertised_address(sock))
    assert not address.is_unspecified
    assert address.is_loopback or host == "0.0.0.0"
