"""ExtendedResourceToleration: Pods that request a device may run on the Nodes that are reserved for it.

Source: kubernetes plugin/pkg/admission/extendedresourcetoleration/admission.go (1.36).
"""

from typing import ClassVar

import msgspec

from sampan.core.object import Object
from sampan.core.pods.tolerations import Toleration, with_toleration
from sampan.core.quota.pod_usage import is_extended
from sampan.server.admission.chain import Attributes
from sampan.server.admission.pods import POD_ONLY


class ExtendedResourceToleration:
    """Adds a toleration for each requested extended resource."""

    name: ClassVar[str] = "ExtendedResourceToleration"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = POD_ONLY

    async def admit(self, attributes: Attributes) -> None:
        """Add the tolerations. Never refuses."""
        if attributes.subresource or attributes.obj is None:
            return
        spec = attributes.obj["spec"]
        names = sorted(name for name in _requested(spec) if is_extended(name))
        if not names:
            return
        tolerations = msgspec.convert(spec.get("tolerations") or [], list[Toleration])
        for name in names:
            tolerations = with_toleration(tolerations, Toleration(name, "Exists", "", "NoSchedule"))
        spec["tolerations"] = msgspec.to_builtins(tolerations)


def _requested(spec: Object) -> set[str]:
    return {
        name
        for field in ("containers", "initContainers")
        for container in spec.get(field) or ()
        for name in (container.get("resources") or {}).get("requests") or ()
    }
