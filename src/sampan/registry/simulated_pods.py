"""`SimulatedPods`: finds the Pods that run on simulated Nodes, so that their addresses are never dialled.

The Node decides, not the address. The agent of the Node reports its runtime in `status.nodeInfo`, and its label has it
before the first report.
"""

from collections.abc import Mapping
from typing import Any, Final

from sampan.core.object import Object
from sampan.core.pods.simulated import RUNTIME
from sampan.registry.strategy import ObjectReader

_LABEL: Final = "sampan.dev/runtime"


class SimulatedPods:
    """Reads Nodes and Pods. One instance for one decision: it remembers the Nodes."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._nodes: dict[str, bool] = {}

    def has_node(self, name: str) -> bool:
        """Return True if the Node is simulated. A Node that does not exist is not."""
        found = self._nodes.get(name)
        if found is None:
            found = self._nodes[name] = bool(name) and is_simulated(self._reader.get("", "nodes", "", name))
        return found

    def has(self, pod: Object) -> bool:
        """Return True if the Pod runs on a simulated Node."""
        return self.has_node((pod.get("spec") or {}).get("nodeName") or "")

    def is_endpoint(self, namespace: str, endpoint: Mapping[str, Any]) -> bool:
        """Return True if an endpoint, of an EndpointSlice or of Endpoints, is a Pod on a simulated Node.

        The name of the Node decides; without it, the reference to the Pod.
        """
        if endpoint.get("nodeName"):
            return self.has_node(endpoint["nodeName"])
        target = endpoint.get("targetRef") or {}
        if target.get("kind") != "Pod" or not target.get("name"):
            return False
        pod = self._reader.get("", "pods", target.get("namespace") or namespace, target["name"])
        return pod is not None and self.has(pod)


def is_simulated(node: Object | None) -> bool:
    """Return True if this is a simulated Node."""
    if node is None:
        return False
    reported = ((node.get("status") or {}).get("nodeInfo") or {}).get("containerRuntimeVersion") or ""
    label = (node["metadata"].get("labels") or {}).get(_LABEL)
    return reported.startswith(f"{RUNTIME}:") if reported else label == RUNTIME
