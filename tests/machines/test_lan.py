"""The network of machines."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machines import Lan, lan, missing, wait_for

_RULES = """
table ip forwarding {{
  chain to {{ type nat hook prerouting priority -100; tcp dport 8000 dnat to {target}:9000; }}
  chain from {{ type nat hook postrouting priority 100; tcp dport 9000 masquerade; }}
}}
"""
_SERVER = """
import socket
server = socket.create_server(("", 9000))
while True:
    connection, _ = server.accept()
    connection.sendall(b"hello")
    connection.close()
"""
_CLIENT = """
import socket, sys
print(socket.create_connection((sys.argv[1], 8000), 2).recv(5).decode(), end="")
"""


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Lan]:
    """Two machines."""
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    with lan(tmp_path, ["first", "second"]) as found:
        yield found


def test_machine_reaches_itself_through_the_first_one(network: Lan) -> None:
    first, second = network.machines
    rules = first.root / "rules.nft"
    rules.write_text(_RULES.format(target=network.address(1)))
    first.run("nft", "-f", str(rules))
    first.run("sysctl", "-w", "net.ipv4.ip_forward=1")
    second.start(sys.executable, "-c", _SERVER, log="server.log")
    wait_for(lambda: second.output(sys.executable, "-c", _CLIENT, network.address(0)) == "hello", "a response")


def test_reboot_keeps_the_files_of_a_machine_and_its_place_in_the_network(network: Lan) -> None:
    first, second = network.machines
    second.run("touch", "/var/lib/stays", "/run/goes")
    second.run("ip", "link", "add", "extra", "type", "bridge")
    second.start("sleep", "1000", log="sleep.log")
    network.reboot(1)
    assert second.run("ls", "/var/lib").split() == ["stays"]
    assert "goes" not in second.run("ls", "/run")
    assert "extra" not in second.run("ip", "link")
    assert not second.pids("sleep", "1000")
    second.start(sys.executable, "-c", _SERVER, log="server.log")
    reach = _CLIENT.replace("8000", "9000")
    wait_for(lambda: first.output(sys.executable, "-c", reach, network.address(1)) == "hello", "a response")


def test_reboot_of_the_first_machine_restores_its_links(network: Lan) -> None:
    first, second = network.machines
    network.reboot(0)
    second.start(sys.executable, "-c", _SERVER, log="server.log")
    reach = _CLIENT.replace("8000", "9000")
    wait_for(lambda: first.output(sys.executable, "-c", reach, network.address(1)) == "hello", "a response")
