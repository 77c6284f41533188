"""Targets that a server may reach through the tunnel of a node. The server is the attacker."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import pytest

from sampan.node.node_home import NodeHome
from sampan.node.runtime import Runtime
from sampan.node.server.hosted import HostedPod
from sampan.node.tunnel.targets import TunnelTargets
from sampan.node.views.container import Container, ContainerPort
from sampan.node.views.pod import Pod, PodSpec
from sampan.resource import ObjectMeta
from sampan.streams.errors import StreamRefused
from sampan.streams.splice import Splice

NODE_ADDRESS = "192.0.2.5"
POD, OTHER, ENDED, FORGED = "10.128.1.2", "10.128.2.2", "10.128.1.3", "10.128.1.9"


class FakeRuntime:
    """Addresses that the runtime has given to Pods, by uid."""

    def __init__(self, given: dict[str, Sequence[str]]) -> None:
        self._given = given

    def addresses(self, uid: str) -> Sequence[str]:
        return self._given.get(uid, ())


def pod(name: str, *addresses: str, phase: str = "Running", port: int = 8443, host_network: bool = False) -> Pod:
    """Return a Pod whose status has these addresses."""
    container = Container("main", "image", ports=[ContainerPort(container_port=port)])
    spec = PodSpec(node_name="b", host_network=host_network, containers=[container])
    status: dict[str, Any] = {"phase": phase, "podIPs": [{"ip": each} for each in addresses]}
    return Pod(ObjectMeta(namespace="default", name=name, uid=name), spec, status)


class Hosts:
    """The Pods of node b. The statuses of two of them have addresses that the runtime has not given."""

    runtime = FakeRuntime({"web": (POD, "fd00:128::2"), "ended": (ENDED,), "process": (NODE_ADDRESS,)})
    pods = (
        pod("web", POD, "fd00:128::2"),
        pod("ended", ENDED, phase="Succeeded"),
        pod("forged", FORGED, "169.254.169.254", "127.0.0.1", NODE_ADDRESS),
        pod("host", NODE_ADDRESS, "127.0.0.1", port=9443, host_network=True),
    )

    def __init__(self) -> None:
        self.nodes = {"b": NodeHome((NODE_ADDRESS,), cast(Runtime, self.runtime))}

    def hosted(self) -> Iterable[HostedPod]:
        return [HostedPod(each, cast(Runtime, self.runtime)) for each in self.pods]


class Dialled(list[tuple[str, int]]):
    """Addresses that were dialled. Nothing is connected."""

    async def dial(self, make: Callable[[], Splice], host: str, port: int) -> None:
        self.append((host, port))
        raise ConnectionRefusedError(111, "refused")

    def targets(self, *, shares_network: bool = False) -> TunnelTargets:
        return TunnelTargets(Hosts(), lambda: (NODE_ADDRESS, 10250), shares_network=shares_network, dial=self.dial)


@pytest.fixture
def dialled() -> Dialled:
    return Dialled()


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (f"{POD}:80", (POD, 80)),
        (f"{POD}:65535", (POD, 65535)),
        ("[fd00:128::2]:80", ("fd00:128::2", 80)),
        ("[fd00:0128:0::0002]:80", ("fd00:128::2", 80)),
        (f"{NODE_ADDRESS}:9443", (NODE_ADDRESS, 9443)),
        ("kubelet", (NODE_ADDRESS, 10250)),
    ],
)
async def test_pods_and_the_node_are_reached(dialled: Dialled, target: str, expected: tuple[str, int]) -> None:
    with pytest.raises(ConnectionRefusedError):
        await dialled.targets().connect(target, Splice)
    assert dialled == [expected]


@pytest.mark.parametrize(
    "target",
    [
        "169.254.169.254:80",
        "[fd00:ec2::254]:80",
        "[::ffff:169.254.169.254]:80",
        "127.0.0.1:22",
        "127.0.0.1:9443",
        "[::1]:9443",
        "[::ffff:127.0.0.1]:9443",
        "0.0.0.0:9443",
        f"{NODE_ADDRESS}:22",
        f"{NODE_ADDRESS}:8443",
        f"{NODE_ADDRESS}:10250",
        f"{OTHER}:80",
        f"{ENDED}:80",
        f"{FORGED}:80",
        "8.8.8.8:53",
        "localhost:9443",
        "example.test:80",
        f"{POD}",
        f"{POD}:",
        f"{POD}:-1",
        f"{POD}:0",
        f"{POD}:65536",
        f"{POD}:99999",
        f"{POD}:٣",
        f"{POD}:8080000",
        f"{POD}%eth0:80",
        "[fe80::1%eth0]:80",
        f"user@{POD}:80",
        "/run/containerd/containerd.sock:0",
        "kubelet:10250",
        "KUBELET",
        "",
    ],
)
@pytest.mark.parametrize("shares_network", [False, True])
async def test_everything_else_is_refused(dialled: Dialled, target: str, shares_network: bool) -> None:
    with pytest.raises(StreamRefused):
        await dialled.targets(shares_network=shares_network).connect(target, Splice)
    assert dialled == []


async def test_a_process_is_reached_only_at_the_ports_that_its_pod_declares(
    dialled: Dialled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hosts, "pods", (pod("process", NODE_ADDRESS, port=8443),))
    with pytest.raises(ConnectionRefusedError):
        await dialled.targets(shares_network=True).connect(f"{NODE_ADDRESS}:8443", Splice)
    with pytest.raises(StreamRefused):
        await dialled.targets(shares_network=True).connect(f"{NODE_ADDRESS}:22", Splice)
    assert dialled == [(NODE_ADDRESS, 8443)]
