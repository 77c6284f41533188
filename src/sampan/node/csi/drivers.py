"""`Drivers`: storage drivers that are registered on a node."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from sampan.csi.client import CsiClient
from sampan.csi.messages import message

STAGE: Final = "STAGE_UNSTAGE_VOLUME"
STATS: Final = "GET_VOLUME_STATS"
EXPAND: Final = "EXPAND_VOLUME"
MULTI_WRITER: Final = "SINGLE_NODE_MULTI_WRITER"
MOUNT_GROUP: Final = "VOLUME_MOUNT_GROUP"


@dataclass(slots=True)
class RegisteredDriver:
    """Storage driver whose socket the agent has found."""

    name: str
    socket: str
    client: CsiClient
    node_id: str
    capabilities: frozenset[str]
    """Names of the capabilities of the driver's Node service."""
    topology: Mapping[str, str] = field(default_factory=dict)
    volumes_max: int = 0
    """Number of volumes that the driver can have on this node; 0 for no limit."""
    connection: AsyncExitStack = field(default_factory=AsyncExitStack)


class Drivers:
    """The registered drivers by name. `changed` is called with a driver's name after its registration."""

    def __init__(self, registered: Callable[[str], None]) -> None:
        self._drivers: dict[str, RegisteredDriver] = {}
        self._registered = registered

    def get(self, name: str) -> RegisteredDriver:
        """Return a driver. Raises `LookupError` with the kubelet's error message."""
        found = self._drivers.get(name)
        if found is None:
            raise LookupError(f"driver name {name} not found in the list of registered CSI drivers")
        return found

    def all(self) -> list[RegisteredDriver]:
        """Return a copy of the list of registered drivers."""
        return list(self._drivers.values())

    async def add(self, driver: RegisteredDriver) -> None:
        """Add a driver, or replace one of the same name."""
        before = self._drivers.get(driver.name)
        self._drivers[driver.name] = driver
        if before is not None:
            await before.connection.aclose()
        self._registered(driver.name)

    async def remove(self, name: str, socket: str) -> bool:
        """Remove a driver unless another one with its name uses another socket. Returns whether it was removed."""
        found = self._drivers.get(name)
        if found is None or found.socket != socket:
            return False
        del self._drivers[name]
        await found.connection.aclose()
        return True

    async def close(self) -> None:
        """Close all connections."""
        for driver in self.all():
            await driver.connection.aclose()
        self._drivers.clear()


async def connect(name: str, socket: str) -> RegisteredDriver:
    """Connect to a driver, and read its name, capabilities and limits. Raises `CsiError`."""
    connection = AsyncExitStack()
    try:
        client = await connection.enter_async_context(CsiClient(socket))
        info = await client.call("NodeGetInfo", wait_for_ready=True)
        found = await client.call("NodeGetCapabilities")
    except BaseException:
        await connection.aclose()
        raise
    names = message("NodeServiceCapability.RPC").DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number
    can = frozenset(names[each.rpc.type].name for each in found.capabilities if each.rpc.type in names)
    topology = dict(info.accessible_topology.segments)
    return RegisteredDriver(name, socket, client, info.node_id, can, topology, info.max_volumes_per_node, connection)
