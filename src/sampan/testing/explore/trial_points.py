"""Fault points of a trial other than requests: awaits of reconciles, and calls of external systems."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client import TransportError
from sampan.testing.explore.plan import CANCELLED, PlannedFault, WriteId
from sampan.testing.faults.points import AWAIT, CALL, EXTERNAL, Suspension

OPERATOR: Final = "operator"

Around = Callable[[WriteId, Callable[[], Awaitable[Any]], Callable[[Any], bool]], Awaitable[Any]]
"""Runs a write with the fault of the plan: its id, the write, and a test of the result for success."""


@dataclass(slots=True)
class TrialPoints:
    """Fault points of one trial.

    `interrupt` acts at the await of the plan; for `cancelled`, its reconcile has been cancelled.
    """

    plan: PlannedFault | None
    around: Around
    interrupt: Callable[[], None]
    writes: Sequence[WriteId]
    awaits: list[WriteId] = field(default_factory=list)
    """Awaits so far. Of several at the same lines between the same two writes, only the first is included."""
    fired: bool = False
    _counts: Counter[tuple[str, ...]] = field(default_factory=Counter)
    _seen: set[tuple[Any, ...]] = field(default_factory=set)

    def suspended(self, at: Suspension) -> None:
        """Handle the suspension of a reconcile, which is the current task."""
        key = (at.controller, at.namespace, at.name)
        self._counts[key] += 1
        found = WriteId(OPERATOR, AWAIT, *key, occurrence=self._counts[key])
        kind = (*key, at.place, len(self.writes))
        if kind not in self._seen:
            self._seen.add(kind)
            self.awaits.append(found)
        if self.plan is not None and self.plan.at == found and not self.fired:
            self.fired = True
            if self.plan.fault == CANCELLED:
                task = asyncio.current_task()
                assert task is not None
                task.cancel()
            self.interrupt()

    async def call(self, name: str, function: Callable[[], Awaitable[Any]], failure: Callable[[str], Exception]) -> Any:
        """Call an external system and return its result."""
        key = (OPERATOR, CALL, EXTERNAL, "", name)
        self._counts[key] += 1
        try:
            return await self.around(WriteId(*key, occurrence=self._counts[key]), function, lambda _: True)
        except TransportError as error:
            raise failure(str(error)) from error
