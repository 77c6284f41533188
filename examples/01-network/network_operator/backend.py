"""`Backend`: interface to a network service. One implementation uses Neutron; tests have one in memory."""

from typing import Protocol

from network_operator.plan import ActualNetwork, Desired


class Refused(Exception):
    """The backend refuses the request permanently. `str()` is the reason."""


class Unavailable(Exception):
    """The backend did not respond, or failed temporarily. Retry; the request may have succeeded."""


class Backend(Protocol):
    """Creates, changes and finds networks. All methods raise `Refused` and `Unavailable`.

    Deleting a missing object succeeds. Changing one raises `Unavailable`, so that the caller looks again.
    """

    async def find(self, identity: str) -> list[ActualNetwork]:
        """Return all networks with this identity, the oldest first."""
        ...

    async def create_network(self, desired: Desired) -> None:
        """Create the network, with its identity in the same request."""
        ...

    async def rename_network(self, network_id: str, name: str) -> None:
        """Rename the network."""
        ...

    async def delete_network(self, network_id: str) -> None:
        """Delete the network and its subnets."""
        ...

    async def create_subnet(self, network_id: str, desired: Desired) -> None:
        """Create the subnet."""
        ...

    async def update_gateway(self, subnet_id: str, desired: Desired) -> None:
        """Change the gateway of the subnet."""
        ...

    async def delete_subnet(self, subnet_id: str) -> None:
        """Delete the subnet."""
        ...
