"""Server in this process with one simulated node."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import PODS
from sampan.node.nodes import SimulatedNodes
from sampan.node.set_up import set_up
from sampan.resource import Object
from tests.client.connected import connected
from tests.controllers.cluster import Working, working

NODE = "node"


@asynccontextmanager
async def simulated(names: Sequence[str] = (NODE,)) -> AsyncIterator[Working]:
    """Run a cluster with these nodes. Nothing binds Pods to them."""
    async with connected() as (client, _), working(client, nodes(names)) as found:
        yield found


def nodes(names: Sequence[str] = (NODE,)) -> Any:
    """Return a function that sets up nodes."""

    def setting_up(context: ControllerContext) -> None:
        set_up(context, SimulatedNodes(names))

    return setting_up


def pod(name: str, *, annotations: dict[str, str] | None = None, **spec: Any) -> Any:
    """Return a Pod that is bound to the node; `spec` adds to its spec."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "app:1"}], **spec},
    }


async def create(cluster: Working, *arguments: Any, **fields: Any) -> Object:
    """Create a Pod with the arguments of `pod`."""
    return await cluster.create(PODS, pod(*arguments, **fields))


def condition(obj: Object, type: str) -> Object:
    """Return the condition of a type; empty if there is none."""
    return next((each for each in obj["status"].get("conditions", ()) if each["type"] == type), {})
