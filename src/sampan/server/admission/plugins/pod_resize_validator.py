"""PodResizeValidator: a Pod cannot grow beyond its Node.

Source: kubernetes plugin/pkg/admission/podresize/admission.go (1.36).
"""

from typing import ClassVar, Final, NamedTuple

from sampan.core.field import quote
from sampan.core.object import Object
from sampan.core.quota.pod_usage import pod_requests
from sampan.core.quota.usage import ZERO, Usage, amounts
from sampan.registry.reader import CacheReader
from sampan.server.admission.chain import Attributes
from sampan.server.admission.derived_cache import DerivedCache
from sampan.server.admission.pods import POD_ONLY
from sampan.server.admission.refusal import refusal

_OS_LABEL: Final = "kubernetes.io/os"
_MILLI: Final = -3


class _Node(NamedTuple):
    """Properties of a Node that a resize needs."""

    system: str
    allocatable: Usage


class PodResizeValidator:
    """Checks resizes of Pods that are on a Node."""

    name: ClassVar[str] = "PodResizeValidator"
    operations: ClassVar[frozenset[str]] = frozenset({"UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    def __init__(self, reader: CacheReader) -> None:
        self._nodes = DerivedCache(reader, "", "nodes", _node)

    async def validate(self, attributes: Attributes) -> None:
        """Check a resize. **Raises** 403."""
        pod, old = attributes.obj, attributes.old
        if attributes.subresource != "resize" or pod is None or old is None:
            return
        name = pod["spec"].get("nodeName", "")
        if not name or pod["metadata"].get("generation") == old["metadata"].get("generation"):
            return
        node = self._nodes.get(name)
        if node is None:
            raise refusal(attributes, f"node {quote(name)} not found")
        if node.system != "linux":
            text = f"pod resize is only supported on linux nodes, node {quote(name)} is {quote(node.system)}"
            raise refusal(attributes, text, causes=[{"reason": "UnsupportedPlatform"}])
        texts = _lacking(pod, node)
        if texts:
            text = f"node didn't have enough allocatable resources: {'; '.join(texts)}"
            raise refusal(attributes, text, causes=[{"reason": "NodeCapacity"}])


def _node(obj: Object) -> _Node:
    labels = obj["metadata"].get("labels") or {}
    return _Node(labels.get(_OS_LABEL, "linux"), amounts((obj.get("status") or {}).get("allocatable")))


def _lacking(pod: Object, node: _Node) -> list[str]:
    requests = pod_requests(pod)
    texts = []
    for name, scale in (("cpu", _MILLI), ("memory", 0)):
        desired, there = requests.get(name, ZERO), node.allocatable.get(name, ZERO)
        if desired > there:
            desired_units, units = desired.scaled_value(scale), there.scaled_value(scale)
            texts.append(f"{name}, requested: {desired_units}, allocatable: {units}")
    return texts
