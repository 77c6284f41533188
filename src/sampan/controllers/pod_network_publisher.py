"""The publisher of pod networks: keeps a ConfigMap with the pod CIDRs and addresses of all nodes with containers.

Nodes read it to add routes to each other's Pods. A cluster without such nodes does not get the ConfigMap.
"""

from typing import Any, Final

from sampan.client import AlreadyExists, MergePatch, NotFound
from sampan.component_base.context import ControllerContext
from sampan.component_base.pod_networks import (
    CONFIG_MAP,
    CRI,
    NAMESPACE,
    NETWORK_NODE_VIEW,
    RUNTIME_LABEL,
    PodNetworkOf,
    to_data,
)
from sampan.component_base.resources import CONFIG_MAPS
from sampan.informer.ref import Ref
from sampan.operator.builder import Builder
from sampan.operator.request import Request, Result

NAME: Final = "pod-network-publisher-controller"
_ONLY: Final = Request(NAMESPACE, CONFIG_MAP)


def set_up(context: ControllerContext) -> None:
    """Register the controller with the manager."""
    (
        Builder(context.manager)
        .named(NAME)
        .watches(NETWORK_NODE_VIEW, lambda ref: (_ONLY,) if _has_containers(ref) else ())
        .watches(CONFIG_MAPS, lambda ref: (_ONLY,) if ref.key == f"{NAMESPACE}/{CONFIG_MAP}" else ())
        .complete(PodNetworkPublisher(context))
    )


class PodNetworkPublisher:
    """Writes the ConfigMap."""

    def __init__(self, context: ControllerContext) -> None:
        self._nodes = context.informer(NETWORK_NODE_VIEW).indexer
        self._config_maps = context.manager.client.resource(CONFIG_MAPS, namespace=NAMESPACE)

    async def reconcile(self, request: Request) -> Result | None:
        """Publish the networks of all nodes. Raises `ApiError`, `TransportError`."""
        data = to_data(self._networks())
        published = await self._config_maps.find(request)
        if published is None:
            if data:
                await self._create(data)
            return None
        before = published.get("data") or {}
        if before != data:
            gone = dict.fromkeys(before.keys() - data.keys())
            try:
                await self._config_maps.patch(CONFIG_MAP, MergePatch({"data": {**gone, **data}}))
            except NotFound:
                return None  # The event of the deletion queues the request again.
        return None

    def _networks(self) -> dict[str, PodNetworkOf]:
        nodes = {ref.name: NETWORK_NODE_VIEW.decode(ref.raw) for ref in self._nodes.refs() if _has_containers(ref)}
        return {name: node.network for name, node in nodes.items() if node.spec.pod_cidrs}

    async def _create(self, data: dict[str, str]) -> None:
        try:
            await self._config_maps.create(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": CONFIG_MAP}, "data": data}
            )
        except AlreadyExists:
            return  # Its event queues the request again.


def _has_containers(ref: Ref[Any]) -> bool:
    return ref.labels.get(RUNTIME_LABEL) == CRI
