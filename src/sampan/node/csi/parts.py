"""`CsiParts`: settings and collaborators that the CSI classes of one node share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sampan.client import Client
from sampan.core.time import Clock
from sampan.node.node_events import NodeEvents
from sampan.node.tasks import Tasks


@dataclass(frozen=True, slots=True)
class CsiParts:
    """Settings and collaborators."""

    node: str
    """Name of the node."""
    root: Path
    """Directory of the node, absolute."""
    client: Client
    clock: Clock
    events: NodeEvents
    tasks: Tasks
    changed: Callable[[str], None]
    """Callback that queues a Pod by its key."""
