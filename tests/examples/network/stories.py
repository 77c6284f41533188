"""Scenarios: what a user does with Networks. Each is explored with all faults."""

import asyncio
import uuid
from collections import Counter
from typing import Any

from network_operator.operator import set_up
from network_operator.plan import Desired
from network_operator.types import Network
from sampan.resource import Object
from sampan.testing import Cluster
from sampan.testing.explore import scenario
from tests.examples.network.backend import MemoryBackend

_RECHECKED_S = 90.0
"""Time after which the operator has compared every Network with the backend once more."""


class ExploredBackend(MemoryBackend):
    """Backend with random ids, as those of Neutron: they are not compared with those of the run without a fault."""

    def __init__(self) -> None:
        super().__init__()
        self._made: Counter[tuple[str, str]] = Counter()

    def state(self) -> dict[str, Any]:
        """Return what exists at the end, and what was made more than once for one object."""
        networks = [
            (network.name, [(subnet.cidr, subnet.gateway) for subnet in network.subnets.values()])
            for network in self.networks.values()
        ]
        again = sorted({what for (_, what), count in self._made.items() if count > 1})
        return {"networks": networks, "made again": again}

    async def create_network(self, desired: Desired) -> None:
        """Create and count a network."""
        await super().create_network(desired)
        self._made[desired.identity, "network"] += 1

    async def create_subnet(self, network_id: str, desired: Desired) -> None:
        """Create and count a subnet."""
        await super().create_subnet(network_id, desired)
        self._made[desired.identity, desired.cidr] += 1

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}-{uuid.uuid4()}"


def network(cidr: str = "10.0.0.0/16", gateway: str = "10.0.0.1") -> Object:
    """Return a Network with the name `net`."""
    return {
        "apiVersion": "samplecrd.k8s.io/v1",
        "kind": "Network",
        "metadata": {"name": "net"},
        "spec": {"cidr": cidr, "gateway": gateway},
    }


@scenario(set_up, crds=[Network], system=ExploredBackend)
async def changed(cluster: Cluster, _: Any) -> None:
    """Change the gateway in place, and replace the subnet."""
    await cluster.apply(network())
    await cluster.settled()
    await cluster.apply(network(gateway="10.0.0.9"))
    await cluster.settled()
    await cluster.apply(network("10.7.0.0/16", "10.7.0.1"))
    await asyncio.sleep(_RECHECKED_S)


@scenario(set_up, crds=[Network], system=ExploredBackend)
async def made_again(cluster: Cluster, _: Any) -> None:
    """Delete a Network, and create one with the same name."""
    await cluster.apply(network())
    await cluster.settled()
    await cluster.delete("networks/net")
    await cluster.settled()
    await cluster.apply(network())
    await asyncio.sleep(_RECHECKED_S)


@scenario(set_up, crds=[Network], system=ExploredBackend)
async def deleted(cluster: Cluster, _: Any) -> None:
    """Delete a Network: nothing stays in the backend."""
    await cluster.apply(network())
    await cluster.settled()
    await cluster.delete("networks/net")
    await asyncio.sleep(_RECHECKED_S)
