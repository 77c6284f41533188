"""Settings of the test driver, and its errors."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from sampan.csi.messages import message

CONTROLLER = (
    "CREATE_DELETE_VOLUME",
    "PUBLISH_UNPUBLISH_VOLUME",
    "LIST_VOLUMES",
    "LIST_VOLUMES_PUBLISHED_NODES",
    "GET_CAPACITY",
    "CREATE_DELETE_SNAPSHOT",
    "CLONE_VOLUME",
    "EXPAND_VOLUME",
    "MODIFY_VOLUME",
)
NODE = ("STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME")


@dataclass
class Settings:
    """Settings of a driver."""

    data: Path
    """Directory for volumes, the state and the log of calls."""
    socket: Path
    registry: Path | None = None
    """Directory plugins_registry of a node; None for a driver that does not register."""
    name: str = "test.csi.sampan.dev"
    node: str = "node-1"
    """ID of the node."""
    controller: tuple[str, ...] = CONTROLLER
    """Capabilities of the service Controller."""
    node_can: tuple[str, ...] = NODE
    """Capabilities of the service Node."""
    topology: dict[str, str] = field(default_factory=dict)
    max_volumes: int = 0
    versions: tuple[str, ...] = ("1.0.0",)
    type: str = "CSIPlugin"

    @property
    def registration_socket(self) -> Path | None:
        """Socket by which a node finds the driver."""
        return None if self.registry is None else self.registry / f"{self.name}-reg.sock"


class Refused(Exception):
    """A call fails with this code."""

    def __init__(self, code: grpc.StatusCode, text: str) -> None:
        super().__init__(text)
        self.code = code


def capability_messages(service: str, names: Iterable[str]) -> list[Any]:
    """Return the capabilities of a service. The same name has different numbers in different services."""
    outer, inner = message(f"{service}ServiceCapability"), message(f"{service}ServiceCapability.RPC")
    numbers = inner.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_name
    return [outer(rpc=inner(type=numbers[name].number)) for name in names]
