"""`runtime_of`: what runs the containers of a cluster, which decides how an operator gets there."""

from enum import Enum
from typing import Final

from sampan.client import ApiError, Client
from sampan.core.gvk import GroupVersionResource
from sampan.resource import ResourceInfo

_NODES: Final = ResourceInfo(GroupVersionResource("", "v1", "nodes"), "Node", False)
_PAGE: Final = 500


class NodeKind(Enum):
    """Runtimes of the machines of a cluster, which run its Pods."""

    CONTAINERS = "containers"
    PROCESSES = "processes"
    SIMULATED = "simulated"
    ABSENT = "absent"
    """There is no node yet."""


_BY_NAME: Final = {"process": NodeKind.PROCESSES, "simulated": NodeKind.SIMULATED}


async def runtime_of(client: Client) -> NodeKind:
    """Return the runtime of the nodes. Containers, if one has them, or if this user may not read nodes."""
    try:
        nodes = await client.resource(_NODES).list_all(page_size=_PAGE)
    except ApiError:
        return NodeKind.CONTAINERS
    found = set[NodeKind]()
    for node in nodes.items:
        version = ((node.get("status") or {}).get("nodeInfo") or {}).get("containerRuntimeVersion") or ""
        found.add(_BY_NAME.get(version.partition("://")[0], NodeKind.CONTAINERS))
    order = (NodeKind.CONTAINERS, NodeKind.PROCESSES, NodeKind.SIMULATED)
    return next((runtime for runtime in order if runtime in found), NodeKind.ABSENT)
