"""`Backend`: the seam to whatever makes networks. Neutron is one; tests have one in memory."""

from typing import Protocol

from network_operator.plan import ActualNetwork, Desired


class Refused(Exception):
    """The backend will not do this, however often it is asked; the text says why."""


class Unavailable(Exception):
    """The backend did not answer, or cannot now: try again. The request may have been carried out."""


class Backend(Protocol):
    """Makes, changes and finds networks. All methods raise `Refused` and `Unavailable`.

    Deleting what is not there is no error; changing it is `Unavailable` (look again).
    """

    async def find(self, identity: str) -> list[ActualNetwork]:
        """All networks with this identity, the oldest first."""
        ...

    async def create_network(self, desired: Desired) -> None:
        """Make the network; its identity is on it from its first moment."""
        ...

    async def rename_network(self, network_id: str, name: str) -> None:
        """Give it another name."""
        ...

    async def delete_network(self, network_id: str) -> None:
        """Delete it with its subnets."""
        ...

    async def create_subnet(self, network_id: str, desired: Desired) -> None:
        """Make the subnet."""
        ...

    async def update_gateway(self, subnet_id: str, desired: Desired) -> None:
        """Give the subnet another gateway."""
        ...

    async def delete_subnet(self, subnet_id: str) -> None:
        """Delete the subnet."""
        ...
