"""The admission chain: plug-ins in their order; the first refusal refuses the request.

Source: apiserver pkg/admission/{interfaces,chain}.go (1.36).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sampan.core.gvk import GroupVersionKind, GroupVersionResource
from sampan.core.object import Object
from sampan.server.request import UserInfo


@dataclass(slots=True)
class Attributes:
    """What an admission plug-in is asked about. `obj` is None for a delete, `old` for a create; both in the hub
    version.
    """

    operation: str
    """CREATE, UPDATE, DELETE or CONNECT."""
    gvk: GroupVersionKind
    gvr: GroupVersionResource
    namespace: str
    name: str
    subresource: str
    user: UserInfo | None
    dry_run: bool
    obj: Object | None = None
    old: Object | None = None


class MutatingPlugin(Protocol):
    """Changes objects on their way in."""

    operations: frozenset[str]

    async def admit(self, attributes: Attributes) -> None:
        """Change `attributes.obj` in place. Raises `StatusError` to refuse."""


class ValidatingPlugin(Protocol):
    """Refuses what may not come in."""

    operations: frozenset[str]

    async def validate(self, attributes: Attributes) -> None:
        """Raises `StatusError` to refuse."""


class AdmissionChain:
    """All plug-ins of a server."""

    def __init__(self, mutating: Sequence[MutatingPlugin] = (), validating: Sequence[ValidatingPlugin] = ()) -> None:
        self._mutating = {
            op: tuple(p for p in mutating if op in p.operations) for op in ("CREATE", "UPDATE", "DELETE", "CONNECT")
        }
        self._validating = {
            op: tuple(p for p in validating if op in p.operations) for op in ("CREATE", "UPDATE", "DELETE", "CONNECT")
        }

    def mutates(self, operation: str) -> bool:
        """Whether `admit` would do anything."""
        return bool(self._mutating[operation])

    def validates(self, operation: str) -> bool:
        """Whether `validate` would do anything."""
        return bool(self._validating[operation])

    async def admit(self, attributes: Attributes) -> None:
        """Run the mutating plug-ins."""
        for plugin in self._mutating[attributes.operation]:
            await plugin.admit(attributes)

    async def validate(self, attributes: Attributes) -> None:
        """Run the validating plug-ins."""
        for plugin in self._validating[attributes.operation]:
            await plugin.validate(attributes)
