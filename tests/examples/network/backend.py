"""`MemoryBackend`: networks in memory, with the rules of Neutron that the tests need."""

import ipaddress
import itertools
from dataclasses import dataclass, field

from network_operator.backend import Refused, Unavailable
from network_operator.plan import ActualNetwork, Desired, Subnet
from sampan.testing.faults.points import external


@dataclass(slots=True)
class StoredNetwork:
    """Network in the backend."""

    id: str
    name: str
    identity: str
    subnets: dict[str, Subnet] = field(default_factory=dict)


@dataclass(slots=True)
class MemoryBackend:
    """`Backend` in memory. `creates` has the identity of each create; the next changes raise `failures`.

    If the second part of a failure is True, it is raised after the change, like a lost response.
    """

    networks: dict[str, StoredNetwork] = field(default_factory=dict)
    creates: list[str] = field(default_factory=list)
    failures: list[tuple[Exception, bool]] = field(default_factory=list)
    _ids: "itertools.count[int]" = field(default_factory=itertools.count)

    @external("neutron.find", failure=Unavailable)
    async def find(self, identity: str) -> list[ActualNetwork]:
        """Return the networks with the identity."""
        found = [retained for retained in self.networks.values() if retained.identity == identity]
        return [ActualNetwork(retained.id, retained.name, tuple(retained.subnets.values())) for retained in found]

    @external("neutron.create_network", failure=Unavailable)
    async def create_network(self, desired: Desired) -> None:
        """Create a network. Names may repeat."""
        lost = self._before()
        made = StoredNetwork(self._new_id("net"), desired.name, desired.identity)
        self.networks[made.id] = made
        self.creates.append(desired.identity)
        self._after(lost)

    @external("neutron.rename_network", failure=Unavailable)
    async def rename_network(self, network_id: str, name: str) -> None:
        """Rename the network."""
        lost = self._before()
        self._network(network_id).name = name
        self._after(lost)

    @external("neutron.delete_network", failure=Unavailable)
    async def delete_network(self, network_id: str) -> None:
        """Delete the network and its subnets."""
        lost = self._before()
        self.networks.pop(network_id, None)
        self._after(lost)

    @external("neutron.create_subnet", failure=Unavailable)
    async def create_subnet(self, network_id: str, desired: Desired) -> None:
        """Create a subnet. Refuse one that overlaps another subnet of the network."""
        lost = self._before()
        network = self._network(network_id)
        requested = ipaddress.ip_network(desired.cidr)
        for subnet in network.subnets.values():
            if ipaddress.ip_network(subnet.cidr).overlaps(requested):
                raise Refused(f"{desired.cidr} overlaps with {subnet.cidr}")
        made = Subnet(self._new_id("sub"), desired.cidr, desired.gateway)
        network.subnets[made.id] = made
        self._after(lost)

    @external("neutron.update_gateway", failure=Unavailable)
    async def update_gateway(self, subnet_id: str, desired: Desired) -> None:
        """Change the gateway."""
        lost = self._before()
        for network in self.networks.values():
            if subnet_id in network.subnets:
                cidr = network.subnets[subnet_id].cidr
                network.subnets[subnet_id] = Subnet(subnet_id, cidr, desired.gateway)
                return self._after(lost)
        raise Unavailable(f"no subnet {subnet_id}")

    @external("neutron.delete_subnet", failure=Unavailable)
    async def delete_subnet(self, subnet_id: str) -> None:
        """Delete the subnet."""
        lost = self._before()
        for network in self.networks.values():
            network.subnets.pop(subnet_id, None)
        self._after(lost)

    def _new_id(self, prefix: str) -> str:
        return f"{prefix}-{next(self._ids)}"

    def _network(self, network_id: str) -> StoredNetwork:
        if network_id not in self.networks:
            raise Unavailable(f"no network {network_id}")
        return self.networks[network_id]

    def _before(self) -> Exception | None:
        if not self.failures:
            return None
        error, late = self.failures.pop(0)
        if not late:
            raise error
        return error

    def _after(self, lost: Exception | None) -> None:
        if lost is not None:
            raise lost
