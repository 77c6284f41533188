"""`Backend`: destination of audit events.

Source: apiserver pkg/audit/{types,union}.go, pkg/server/options/audit.go (1.36).
"""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from sampan.server.audit.event import AuditEvent


class Backend(Protocol):
    """Records events in the order of the calls."""

    @property
    def name(self) -> str:
        """Name in metrics and logs."""
        ...

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Record or queue events. Return False if they are lost, after the loss is counted. Raises nothing."""
        ...

    async def run(self) -> None:
        """Run background work until cancelled. Queued events are recorded before it returns."""
        ...


class UnionBackend:
    """Passes all events to several backends."""

    name = "union"

    def __init__(self, backends: Sequence[Backend]) -> None:
        self._backends = tuple(backends)

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Record or queue events. Return False if at least one of them lost events."""
        taken = [await backend.process(events) for backend in self._backends]
        return all(taken)

    async def run(self) -> None:
        """Run background work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for backend in self._backends:
                group.create_task(backend.run(), name=f"audit {backend.name}")


class ForgivingBackend:
    """Ignores failures of its delegate. Requests wait for the delegate and continue after a failure."""

    def __init__(self, delegate: Backend) -> None:
        self._delegate = delegate
        self.name = f"ignoreErrors<{delegate.name}>"

    async def process(self, events: Sequence[AuditEvent]) -> bool:
        """Record or queue events."""
        await self._delegate.process(events)
        return True

    async def run(self) -> None:
        """Run background work until cancelled."""
        await self._delegate.run()
