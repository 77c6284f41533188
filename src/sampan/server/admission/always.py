"""AlwaysAdmit and AlwaysDeny: they say the same to everything.

Source: kubernetes plugin/pkg/admission/{admit,deny}/admission.go (1.36).
"""

from typing import ClassVar

from sampan.server.admission.chain import OPERATIONS, Attributes
from sampan.server.admission.refusal import refusal

_DENIED = "admission control is denying all modifications"


class AlwaysAdmit:
    """Takes part and changes nothing."""

    name: ClassVar[str] = "AlwaysAdmit"
    operations: ClassVar[frozenset[str]] = frozenset()
    resources: ClassVar[frozenset[tuple[str, str]] | None] = frozenset()


class AlwaysDeny:
    """Refuses every write."""

    name: ClassVar[str] = "AlwaysDeny"
    operations: ClassVar[frozenset[str]] = frozenset(OPERATIONS)
    resources: ClassVar[frozenset[tuple[str, str]] | None] = None

    async def admit(self, attributes: Attributes) -> None:
        """Raises 403."""
        raise refusal(attributes, _DENIED)

    async def validate(self, attributes: Attributes) -> None:
        """Raises 403."""
        raise refusal(attributes, _DENIED)
