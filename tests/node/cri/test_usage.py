"""Usage in CRI's statistics."""

from collections.abc import Sequence

import grpc
import pytest

from sampan.node.cri.configuration.sandbox import POD_UID
from sampan.node.cri.errors import RuntimeUnavailable, cri_error
from sampan.node.cri.messages import message
from sampan.node.cri.usage import container_usage, interface_usages, read_networks
from sampan.node.sessions import ContainerStats, InterfaceUsage
from sampan.rpc.proto_files import AnyMessage


def test_usage_has_the_time_of_the_runtime() -> None:
    stats = message("ContainerStats")(
        cpu={"timestamp": 1_700_000_000_500_000_000, "usage_core_nano_seconds": {"value": 1_500_000_000}},
        memory={"working_set_bytes": {"value": 3}, "rss_bytes": {"value": 2}, "usage_bytes": {"value": 4}},
        writable_layer={"used_bytes": {"value": 5}, "inodes_used": {"value": 6}},
    )
    assert container_usage(stats) == ContainerStats(1.5, 3, 5, 6, 2, 4, 1_700_000_000.5)


def test_memory_that_the_runtime_does_not_measure_is_unknown() -> None:
    usage = container_usage(message("ContainerStats")(memory={"working_set_bytes": {"value": 3}}))
    assert (usage.rss_bytes, usage.total_memory_bytes) == (None, None)


def test_traffic_is_that_of_all_interfaces() -> None:
    first = {"name": "eth0", "rx_bytes": {"value": 1}, "rx_errors": {"value": 2}, "tx_bytes": {"value": 3}}
    network = {"default_interface": first, "interfaces": [{"name": "eth1"}]}
    found = list(interface_usages(message("PodSandboxStats")(linux={"network": network})))
    assert found == [InterfaceUsage("eth0", 1, 2, 3, 0), InterfaceUsage("eth1", 0, 0, 0, 0)]


def test_a_sandbox_without_a_network_has_no_traffic() -> None:
    assert list(interface_usages(message("PodSandboxStats")())) == []


class FakeRuntime:
    """A runtime with the sandbox `a` of Pod `1`, which may refuse the list, and one that does not run."""

    def __init__(self, refusal: grpc.StatusCode | None) -> None:
        self.refusal = refusal

    async def list_pod_sandbox_stats(self) -> Sequence[AnyMessage]:
        if self.refusal is not None:
            raise cri_error("ListPodSandboxStats", self.refusal, "sandbox is not in ready state")
        return [await self.pod_sandbox_stats("a")]

    async def pod_sandbox_stats(self, sandbox_id: str) -> AnyMessage:
        if sandbox_id != "a":
            raise cri_error("PodSandboxStats", grpc.StatusCode.UNKNOWN, "sandbox is not in ready state")
        network = {"default_interface": {"name": "eth0", "rx_bytes": {"value": 1}}}
        return message("PodSandboxStats")(attributes={"labels": {POD_UID: "1"}}, linux={"network": network})


SANDBOXES = {"1": "a", "2": "b"}


@pytest.mark.parametrize("refusal", [None, grpc.StatusCode.UNKNOWN])
async def test_traffic_is_read_although_another_sandbox_does_not_run(refusal: grpc.StatusCode | None) -> None:
    found = await read_networks(FakeRuntime(refusal), SANDBOXES)
    assert found == {"1": (InterfaceUsage("eth0", 1, 0, 0, 0),)}


async def test_a_runtime_that_does_not_measure_traffic_has_none() -> None:
    assert await read_networks(FakeRuntime(grpc.StatusCode.UNIMPLEMENTED), SANDBOXES) == {}


async def test_a_runtime_that_does_not_respond_is_an_error() -> None:
    with pytest.raises(RuntimeUnavailable):
        await read_networks(FakeRuntime(grpc.StatusCode.UNAVAILABLE), SANDBOXES)
