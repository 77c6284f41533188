"""EndpointSlices of discovery.k8s.io/v1beta1. Source: pkg/apis/discovery/v1beta1/conversion.go (1.36)."""

from typing import Final

from sampan.core.object import Object
from sampan.registry.old_versions.parts import items

_ZONE: Final = "topology.kubernetes.io/zone"
_NODE: Final = "kubernetes.io/hostname"


def endpoint_slice(obj: Object) -> None:
    """Move the zone of each endpoint out of its topology; drop the node there if it equals `nodeName`."""
    for endpoint in items(obj, "endpoints"):
        topology = endpoint.pop("topology", None) or {}
        if _ZONE in topology:
            endpoint["zone"] = topology.pop(_ZONE)
        if _NODE in topology and topology[_NODE] == endpoint.get("nodeName"):
            del topology[_NODE]
        if topology:
            endpoint["deprecatedTopology"] = topology
