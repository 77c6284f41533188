"""Routes to the Pods of other nodes, with the real program `ip`."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from sampan.component_base.pod_networks import PodNetworkOf
from sampan.node.cri.network.routes import PROTOCOL, routes_of, set_routes
from tests.machines import Machine, lan, missing

NETWORKS = {
    "a": PodNetworkOf(("10.244.1.0/24", "fd00:1::/64"), ("172.30.0.1", "fd00:30::1")),
    "b": PodNetworkOf(("10.244.2.0/24", "fd00:2::/64"), ("172.30.0.2", "fd00:30::2")),
    "c": PodNetworkOf(("10.244.3.0/24", "fd00:3::/64"), ("172.30.0.3",)),
    "local": PodNetworkOf(("10.244.4.0/24",), ("127.0.0.1",)),
}


@pytest.fixture
def a(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Machine on which this process runs `ip`."""
    lacking = missing()
    if lacking:
        pytest.skip(lacking)
    with lan(tmp_path, ["a"], ipv6=True) as network:
        [found] = network.machines
        found.program("ip")
        monkeypatch.setenv("PATH", f"{found.root}:{os.environ['PATH']}")
        yield found


def routes(machine: Machine, family: str) -> dict[str, str]:
    listed = json.loads(machine.run("/sbin/ip", family, "-j", "route", "show", "proto", PROTOCOL) or "[]")
    return {each["dst"]: each["gateway"] for each in listed}


def test_each_pod_cidr_of_another_node_has_a_gateway_of_its_family() -> None:
    assert routes_of(NETWORKS, "a") == {
        "10.244.2.0/24": "172.30.0.2",
        "fd00:2::/64": "fd00:30::2",
        "10.244.3.0/24": "172.30.0.3",
    }


async def test_routes_are_added_changed_and_removed(a: Machine) -> None:
    await set_routes({"10.244.2.0/24": "172.30.0.2", "10.244.9.9/32": "172.30.0.9", "fd00:2::/64": "fd00:30::2"})
    assert routes(a, "-4") == {"10.244.2.0/24": "172.30.0.2", "10.244.9.9": "172.30.0.9"}
    assert routes(a, "-6") == {"fd00:2::/64": "fd00:30::2"}
    await set_routes({"10.244.2.0/24": "172.30.0.7", "fd00:2::/64": "fd00:30::2"})
    assert routes(a, "-4") == {"10.244.2.0/24": "172.30.0.7"}
    await set_routes({})
    assert (routes(a, "-4"), routes(a, "-6")) == ({}, {})


async def test_routes_of_the_administrator_stay(a: Machine) -> None:
    a.run("/sbin/ip", "route", "add", "10.244.2.0/24", "via", "172.30.0.8")
    a.run("/sbin/ip", "route", "add", "10.244.5.0/24", "via", "172.30.0.8")
    assert await set_routes({"10.244.2.0/24": "172.30.0.2", "10.244.3.0/24": "172.30.0.3"}) == {}
    await set_routes({})
    left = a.run("/sbin/ip", "route", "show")
    assert "10.244.2.0/24 via 172.30.0.8" in left
    assert "10.244.5.0/24 via 172.30.0.8" in left


async def test_a_gateway_out_of_reach_does_not_prevent_other_routes(
    a: Machine,
) -> None:
    refused = await set_routes({"10.244.2.0/24": "192.0.2.9", "10.244.3.0/24": "172.30.0.3"})
    assert routes(a, "-4") == {"10.244.3.0/24": "172.30.0.3"}
    assert list(refused) == ["10.244.2.0/24"]
