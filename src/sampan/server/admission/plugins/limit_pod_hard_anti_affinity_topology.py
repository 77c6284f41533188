"""LimitPodHardAntiAffinityTopology: a Pod cannot exclude all others from a whole zone.

Source: kubernetes plugin/pkg/admission/antiaffinity/admission.go (1.36).
"""

from typing import ClassVar, Final

from sampan.server.admission.chain import Attributes
from sampan.server.admission.pods import POD_ONLY
from sampan.server.admission.refusal import refusal

_HOSTNAME: Final = "kubernetes.io/hostname"


class LimitPodHardAntiAffinityTopology:
    """Allows required anti-affinity only per Node."""

    name: ClassVar[str] = "LimitPodHardAntiAffinityTopology"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    async def validate(self, attributes: Attributes) -> None:
        """Check the topology keys. **Raises** 403."""
        if attributes.subresource or attributes.obj is None:
            return
        anti_affinity = (attributes.obj["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        for term in anti_affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            key = term.get("topologyKey", "")
            if key != _HOSTNAME:
                text = f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key}"
                raise refusal(attributes, f"{text} but only key {_HOSTNAME} is allowed")
