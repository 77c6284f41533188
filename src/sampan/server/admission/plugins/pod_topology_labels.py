"""PodTopologyLabels: Pods have the zone and region labels of their Node.

Source: kubernetes plugin/pkg/admission/podtopologylabels/admission.go (1.36).
"""

from typing import ClassVar, Final

from sampan.core.object import Object
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.pods import POD_ONLY

_LABELS: Final = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


class PodTopologyLabels:
    """Copies the labels of the Node to new Pods with a Node, and to Bindings, from which Pods take them."""

    name: ClassVar[str] = "PodTopologyLabels"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    def __init__(self, reader: CacheReader) -> None:
        self._reader = reader

    async def admit(self, attributes: Attributes) -> None:
        """Copy the labels. Never refuses."""
        obj = attributes.obj
        node = "" if obj is None else _node_of(obj, attributes.subresource)
        if obj is None or not node:
            return
        record = self._reader.record("", "nodes", "", node)
        labels = {} if record is None else {name: record.labels[name] for name in _LABELS if name in record.labels}
        if labels:
            obj["metadata"]["labels"] = {**(obj["metadata"].get("labels") or {}), **labels}


def _node_of(obj: Object, subresource: str) -> str:
    if not subresource:
        return (obj.get("spec") or {}).get("nodeName") or ""
    target = obj.get("target") or {} if subresource == "binding" else {}
    return target.get("name", "") if target.get("kind") == "Node" else ""
