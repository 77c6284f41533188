"""`Driver`: a storage driver with its name and capabilities.

Source: csi-lib-utils rpc/common.go.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, Final

from sampan.csi.client import CsiClient
from sampan.csi.errors import CsiError
from sampan.csi.messages import AnyMessage

RETRY_S: Final = 1.0
"""Seconds until the driver is called again if it does not respond at the start."""

_log = logging.getLogger("sampan.csi")


@dataclass(frozen=True, slots=True)
class Driver:
    """Storage driver. The sets contain names of CSI capabilities, such as `CREATE_DELETE_VOLUME`."""

    client: CsiClient
    name: str
    plugin: frozenset[str]
    controller: frozenset[str]
    node: frozenset[str]

    async def call(self, method: str, **fields: Any) -> AnyMessage:
        """Call a method of the driver. Raises `CsiError`."""
        return await self.client.call(method, **fields)

    @property
    def has_topology(self) -> bool:
        """True if not every node can reach every volume."""
        return "VOLUME_ACCESSIBILITY_CONSTRAINTS" in self.plugin

    @property
    def writes_on_one_node(self) -> bool:
        """True if the driver distinguishes one writer on a node from several."""
        return "SINGLE_NODE_MULTI_WRITER" in self.controller


async def driver_of(client: CsiClient) -> Driver:
    """Return the driver behind a client. Waits until it is ready and has a name."""
    await _ready(client)
    info = await _info(client)
    plugin = await client.call("GetPluginCapabilities")
    services = frozenset(_name(each.service) for each in plugin.capabilities if each.HasField("service"))
    controller: frozenset[str] = frozenset()
    if "CONTROLLER_SERVICE" in services:
        controller = _rpcs(await client.call("ControllerGetCapabilities"))
    return Driver(client, info.name, services, controller, await _node_capabilities(client))


async def _info(client: CsiClient) -> AnyMessage:
    while True:
        try:
            return await client.call("GetPluginInfo")
        except CsiError as error:
            _log.warning("cannot use the storage driver, retrying: %s", error, extra={"socket": client.socket})
        await asyncio.sleep(RETRY_S)


async def _ready(client: CsiClient) -> None:
    while True:
        try:
            response = await client.call("Probe")
            if not response.HasField("ready") or response.ready.value:
                return
            reason = "the driver is not ready"
        except CsiError as error:
            if error.is_unimplemented:
                return
            reason = str(error)
        _log.warning("cannot use the storage driver, retrying: %s", reason, extra={"socket": client.socket})
        await asyncio.sleep(RETRY_S)


async def _node_capabilities(client: CsiClient) -> frozenset[str]:
    """Return the capabilities of the service Node. The socket of a controller may not provide that service."""
    try:
        return _rpcs(await client.call("NodeGetCapabilities"))
    except CsiError:
        return frozenset()


def _rpcs(response: AnyMessage) -> frozenset[str]:
    return frozenset(_name(each.rpc) for each in response.capabilities if each.HasField("rpc"))


def _name(message: AnyMessage) -> str:
    """Return the name of the value in the field `type`. Each service has its own names for the numbers."""
    kind = message.DESCRIPTOR.fields_by_name["type"].enum_type
    found = kind.values_by_number.get(message.type)
    return str(found.name) if found is not None else ""
