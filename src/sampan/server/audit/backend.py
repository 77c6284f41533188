"""`Backend`: where audit events go.

Source: apiserver pkg/audit/{types,union}.go, pkg/server/options/audit.go (1.36).
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from sampan.server.audit.event import Event


class Backend(Protocol):
    """Takes events in their order."""

    @property
    def name(self) -> str:
        """As metrics and logs name it."""
        ...

    async def process(self, events: Sequence[Event]) -> bool:
        """Record events, or take them over. False: they are lost, which has been counted. Raises nothing."""
        ...

    async def run(self) -> None:
        """What it does besides; ends by cancellation, when everything taken over has been dealt with."""
        ...


class UnionBackend:
    """Several backends, each given all events."""

    name = "union"

    def __init__(self, backends: Sequence[Backend]) -> None:
        self._backends = tuple(backends)

    async def process(self, events: Sequence[Event]) -> bool:
        """See `Backend`. False if one of them has lost some."""
        taken = [await backend.process(events) for backend in self._backends]
        return all(taken)

    async def run(self) -> None:
        """See `Backend`."""
        async with asyncio.TaskGroup() as group:
            for backend in self._backends:
                group.create_task(backend.run(), name=f"audit {backend.name}")


class ForgivingBackend:
    """Requests wait until their events are recorded, and go on if that fails."""

    def __init__(self, delegate: Backend) -> None:
        self._delegate = delegate
        self.name = f"ignoreErrors<{delegate.name}>"

    async def process(self, events: Sequence[Event]) -> bool:
        """See `Backend`."""
        await self._delegate.process(events)
        return True

    async def run(self) -> None:
        """See `Backend`."""
        await self._delegate.run()
