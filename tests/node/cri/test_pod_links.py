"""Links and host ports of running Pods, with the real CNI plug-ins, after another program has removed them."""

import asyncio
import base64
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sampan.component_base.pod_networks import PodNetworkOf
from sampan.node.cri.network import pod_network as network
from sampan.node.cri.network.attachments import read_attachments
from sampan.node.cri.network.pod_network import PodNetwork, network_configuration
from tests.machines import Machine, lan, missing

PLUGINS = Path("/usr/lib/cni")
OWN = PodNetworkOf(("10.244.1.0/24", "fd00:1::/64"), ("172.30.0.1", "fd00:30::1"))
_CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)"
_LISTEN = "import socket; s = socket.create_server(('', 80)); print(flush=True)\nwhile True: s.accept()"
_PATH = ("env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
"""Programs of the machine itself: PATH has programs that enter it."""
_CACHE = {"kind": "cniCacheV1", "ifName": "eth0", "networkName": "sampan"}


@dataclass
class Node:
    """Machine with a running Pod, whose port 80 is the host port 8080."""

    machine: Machine
    results: Path
    leases: Path

    def run(self, command: str) -> str:
        return self.machine.run(*_PATH, *command.split())

    def connects(self, address: str, port: int) -> bool:
        command = [*self.machine.enter, sys.executable, "-c", _CONNECT, address, str(port)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    def rules(self) -> str:
        return self.run("nft list ruleset")

    def start_pod(self, name: str) -> None:
        """Connect a network namespace as containerd does, and listen in it."""
        self.run(f"ip netns add {name}")
        configuration = network_configuration(OWN.cidrs, self.leases)
        result: dict[str, Any] = {}
        for plugin in configuration["plugins"]:
            result = self._add(name, configuration, plugin, result)
        cached = {
            "containerId": name,
            "config": base64.b64encode(json.dumps(configuration).encode()).decode(),
            "capabilityArgs": {"portMappings": _mappings()},
            "result": result,
        }
        (self.results / f"sampan-{name}-eth0").write_text(json.dumps({**_CACHE, **cached}))
        self.machine.start(*_PATH, "ip", "netns", "exec", name, sys.executable, "-c", _LISTEN, log=f"{name}.log")

    def _add(
        self, name: str, configuration: dict[str, Any], plugin: dict[str, Any], before: dict[str, Any]
    ) -> dict[str, Any]:
        given = {
            **plugin,
            "name": configuration["name"],
            "cniVersion": configuration["cniVersion"],
            "runtimeConfig": {"portMappings": _mappings()} if plugin["type"] == "portmap" else {},
            **({"prevResult": before} if before else {}),
        }
        variables = ["CNI_COMMAND=ADD", f"CNI_CONTAINERID={name}", f"CNI_NETNS=/run/netns/{name}", "CNI_IFNAME=eth0"]
        command = [*self.machine.enter, *_PATH, *variables, f"CNI_PATH={PLUGINS}", str(PLUGINS / plugin["type"])]
        done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def _mappings() -> Sequence[dict[str, Any]]:
    return [{"HostPort": 8080, "ContainerPort": 80, "Protocol": "tcp", "HostIP": ""}]


async def until(condition: Any) -> None:
    for _ in range(300):
        if await asyncio.to_thread(condition):
            return
        await asyncio.sleep(0.1)
    raise AssertionError("timed out")


@pytest.fixture
async def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    with lan(tmp_path, ["a"], ipv6=True) as found:
        [a] = found.machines
        for program in ("ip", "nft", "iptables", "ip6tables"):
            a.program(program)
        for name in network.PLUGINS:
            (a.root / name).write_text(f'#!/bin/sh\nexec {" ".join((*a.enter, *_PATH))} {PLUGINS / name} "$@"\n')
            (a.root / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{a.root}:{os.environ['PATH']}")
        monkeypatch.setattr(network, "_forward", lambda cidrs: None)  # It would change this machine.
        a.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
        (tmp_path / "results").mkdir()
        made = Node(a, tmp_path / "results", tmp_path / "leases")
        made.start_pod("web")
        await until(lambda: made.connects("10.244.1.2", 80) and made.connects("172.30.0.1", 8080))

        async def directories() -> list[Path]:
            return [a.root]

        pods = PodNetwork(
            "a",
            configurations=tmp_path / "cni",
            leases=made.leases,
            plugin_directories=directories,
            check_s=0.5,
            results=made.results,
        )
        pods.learn("a", OWN)
        task = asyncio.create_task(pods.run())
        await until(lambda: "sampan-pods" in made.rules())
        yield made
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.parametrize("command", ["link delete sampan0", "link set sampan0 down", "link set {veth} nomaster"])
async def test_pod_is_reached_again_after_a_link_was_changed(node: Node, command: str) -> None:
    [pod] = read_attachments(node.results, "sampan")
    veth = next(name for name, _ in pod.links if name.startswith("veth"))
    node.run(f"ip {command.format(veth=veth)}")
    await until(lambda: node.connects("10.244.1.2", 80))
    await until(lambda: "fd00:1::1/64" in node.run("ip -6 address show dev sampan0"))
    await until(lambda: "hairpin on" in node.run(f"ip -d link show {veth}"))


@pytest.mark.parametrize(
    "command",
    [
        "nft flush ruleset",
        "iptables -t nat -F PREROUTING",
        "iptables -t nat -F OUTPUT",
        "iptables -t nat -F CNI-HOSTPORT-DNAT",
        "ip link delete sampan0",
    ],
)
async def test_host_port_works_again_after_its_rules_were_deleted(node: Node, command: str) -> None:
    def complete() -> bool:
        listed = node.run("iptables -t nat -S").splitlines()
        return sorted(listed) == sorted(before) and node.connects("172.30.0.1", 8080)

    before = node.run("iptables -t nat -S").splitlines()
    node.run(command)
    await until(complete)


async def test_rules_of_a_host_port_disappear_after_its_pod(node: Node) -> None:
    node.run("nft flush ruleset")
    await until(lambda: "CNI-DN-" in node.rules())
    (node.results / "sampan-web-eth0").unlink()
    await until(lambda: "CNI-DN-" not in node.rules())


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"result": {"interfaces": [{"sandbox": "/run/x"}]}}'])
def test_result_that_cannot_be_read_is_left_out(tmp_path: Path, content: str) -> None:
    (tmp_path / "sampan-web-eth0").write_text(content)
    assert read_attachments(tmp_path, "sampan") == []
