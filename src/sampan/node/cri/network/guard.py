"""`NetworkGuard`: protects the network of a Pod before its containers start."""

from collections.abc import Sequence
from typing import Final, Protocol

from sampan.node.views.pod import Pod


class NetworkGuard(Protocol):
    """Rules for the networks of Pods."""

    async def protect(self, pod: Pod, addresses: Sequence[str]) -> None:
        """Wait until the rules of a Pod with these addresses are in place. Idempotent. Raises `SandboxError`."""
        ...

    def release(self, uid: str) -> None:
        """Remove the rules of a Pod after its network was removed. Idempotent."""
        ...


class _NoGuard:
    """Protects nothing."""

    async def protect(self, pod: Pod, addresses: Sequence[str]) -> None:
        """Wait until the rules of a Pod with these addresses are in place."""

    def release(self, uid: str) -> None:
        """Remove the rules of a Pod after its network was removed."""


NO_GUARD: Final = _NoGuard()
