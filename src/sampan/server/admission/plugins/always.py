"""AlwaysAdmit and AlwaysDeny: plug-ins with a constant decision.

Source: kubernetes plugin/pkg/admission/{admit,deny}/admission.go (1.36).
"""

from typing import ClassVar

from sampan.server.admission.chain import OPERATIONS, Attributes
from sampan.server.admission.refusal import refusal

_DENIED = "admission control is denying all modifications"


class AlwaysAdmit:
    """Plug-in that changes and refuses nothing."""

    name: ClassVar[str] = "AlwaysAdmit"
    operations: ClassVar[frozenset[str]] = frozenset()
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset()


class AlwaysDeny:
    """Plug-in that refuses every write."""

    name: ClassVar[str] = "AlwaysDeny"
    operations: ClassVar[frozenset[str]] = frozenset(OPERATIONS)
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None

    async def admit(self, attributes: Attributes) -> None:
        """Refuse the request. **Raises** 403."""
        raise refusal(attributes, _DENIED)

    async def validate(self, attributes: Attributes) -> None:
        """Refuse the request. **Raises** 403."""
        raise refusal(attributes, _DENIED)
