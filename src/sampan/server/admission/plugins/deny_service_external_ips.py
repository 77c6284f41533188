"""DenyServiceExternalIPs: Services cannot take over the traffic of an address with `externalIPs`.

Source: kubernetes plugin/pkg/admission/network/denyserviceexternalips/admission.go (1.36).
"""

from typing import ClassVar

from sampan.core.object import Object
from sampan.server.admission.chain import Attributes
from sampan.server.admission.refusal import refusal


class DenyServiceExternalIPs:
    """Refuses new external IPs."""

    name: ClassVar[str] = "DenyServiceExternalIPs"
    operations: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset({("", "services")})

    async def validate(self, attributes: Attributes) -> None:
        """Check external IPs. **Raises** 403."""
        if attributes.subresource or attributes.obj is None:
            return
        if not _addresses(attributes.obj) <= _addresses(attributes.old or {}):
            raise refusal(attributes, "Use of external IPs is denied by admission control")


def _addresses(service: Object) -> set[str]:
    return set((service.get("spec") or {}).get("externalIPs") or ())
