"""Network of a node's Pods, with the real programs `ip` and `nft` on a machine."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sampan.component_base.pod_networks import PodNetworkOf
from sampan.node.cri.network import pod_network as network
from sampan.node.cri.network.pod_network import FILE, PodNetwork
from tests.machines import Machine, lan, missing

OWN = PodNetworkOf(("10.244.1.0/24", "fd00:1::/64"), ("172.30.0.1", "fd00:30::1"))
OTHER = PodNetworkOf(("10.244.2.0/24", "fd00:2::/64"), ("172.30.0.2", "fd00:30::2"))


@dataclass
class Node:
    """Pod network of the node `a` on a machine."""

    machine: Machine
    network: PodNetwork
    configurations: Path

    def routes(self) -> str:
        return self.machine.run("/sbin/ip", "route") + self.machine.run("/sbin/ip", "-6", "route")

    def tables(self) -> str:
        return self.machine.run("/usr/sbin/nft", "list", "ruleset")

    async def until(self, text: str, *, gone: bool = False) -> None:
        """Wait until a text is, or is not, among the routes, the rules and the names of configurations."""
        for _ in range(200):
            names = "".join(each.name for each in self.configurations.glob("*"))
            if (text in self.routes() + self.tables() + names) is not gone:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"timed out: {text}")


@pytest.fixture
async def node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    with lan(tmp_path, ["a"], ipv6=True) as found:
        [a] = found.machines
        for program in ("ip", "nft"):
            a.program(program)
        monkeypatch.setenv("PATH", f"{a.root}:{os.environ['PATH']}")
        monkeypatch.setattr(network, "_forward", lambda cidrs: None)  # It would change this machine.
        configurations = tmp_path / "cni"
        async with running(PodNetwork("a", configurations=configurations, leases=tmp_path / "leases")) as pods:
            yield Node(a, pods, configurations)


@asynccontextmanager
async def running(pods: PodNetwork) -> AsyncIterator[PodNetwork]:
    task = asyncio.create_task(pods.run())
    yield pods
    task.cancel()
    await asyncio.wait([task])


async def test_both_families_have_routes_rules_and_ranges_of_addresses(node: Node) -> None:
    node.network.learn("a", OWN)
    node.network.learn("b", OTHER)
    await node.until("10.244.2.0/24 via 172.30.0.2 dev lan0 proto 77")
    await node.until("fd00:2::/64 via fd00:30::2 dev lan0 proto 77")
    await node.until(FILE)
    assert "ip saddr 10.244.1.0/24" in node.tables()
    assert "ip6 saddr fd00:1::/64 ip6 daddr != { fd00:1::/64, fd00:2::/64 }" in node.tables()
    written = json.loads((node.configurations / FILE).read_text())
    assert written["plugins"][0]["ipam"]["ranges"] == [[{"subnet": cidr}] for cidr in OWN.cidrs]


async def test_routes_follow_the_nodes(node: Node) -> None:
    node.network.learn("a", OWN)
    node.network.replace_others({"b": OTHER})
    await node.until("10.244.2.0/24 via 172.30.0.2")
    node.network.learn("b", PodNetworkOf(OTHER.cidrs, ("172.30.0.7",)))
    await node.until("10.244.2.0/24 via 172.30.0.7")
    node.network.replace_others({})
    await node.until("10.244.2.0/24", gone=True)
    assert (node.configurations / FILE).exists()


async def test_a_network_of_another_program_is_left_alone(node: Node) -> None:
    node.configurations.mkdir()
    (node.configurations / "10-other.conflist").write_text("{}")
    node.network.learn("a", OWN)
    node.network.learn("b", OTHER)
    await asyncio.sleep(0.5)
    assert "proto 77" not in node.routes()
    assert node.tables() == ""
    assert [each.name for each in node.configurations.iterdir()] == ["10-other.conflist"]


async def test_another_program_takes_the_network_over(node: Node) -> None:
    node.network.learn("a", OWN)
    node.network.learn("b", OTHER)
    await node.until("proto 77")
    await node.until(FILE)
    (node.configurations / "20-other.conflist").write_text("{}")
    node.network.learn("b", OTHER)
    await node.until("proto 77", gone=True)
    await node.until("sampan-pods", gone=True)
    await node.until(FILE, gone=True)
    assert [each.name for each in node.configurations.iterdir()] == ["20-other.conflist"]


async def test_absent_plugins_leave_the_runtime_without_a_configuration(node: Node, tmp_path: Path) -> None:
    plugins, reports = tmp_path / "plugins", asyncio.Queue[str]()
    plugins.mkdir()
    (plugins / "bridge").touch()

    async def directories() -> list[Path]:
        return [plugins]

    pods = PodNetwork(
        "a",
        configurations=node.configurations,
        leases=tmp_path / "leases",
        report=reports.put_nowait,
        plugin_directories=directories,
        check_s=0.1,
    )
    pods.learn("a", OWN)
    async with running(pods):
        assert (await reports.get()).startswith(f"no CNI plug-ins host-local, portmap, bandwidth in {plugins}: install")
        assert not (node.configurations / FILE).exists()
        for name in network.PLUGINS:
            (plugins / name).touch()
        while await reports.get():
            pass
        assert (node.configurations / FILE).exists()


async def test_configuration_that_something_changes_is_written_again(node: Node) -> None:
    node.network.learn("a", OWN)
    await node.until(FILE)
    content = (node.configurations / FILE).read_text()
    (node.configurations / FILE).write_text("{}")
    node.network.learn("b", OTHER)
    for _ in range(200):
        if (node.configurations / FILE).read_text() == content:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("not written again")
