"""`Component`: part of a server that runs until it is cancelled; `running` runs a list of them.

Concurrency: one task for each component, in one `TaskGroup`. They start in the order of the list. A component that
fails ends the other ones; one that returns does not.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sampan.app.keep_running import keep_running


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a server. `run` gets no arguments: it uses the dependencies of its object."""

    name: str
    run: Callable[[], Awaitable[None]]
    after: asyncio.Event | None = None
    """Event to wait for before the start; None: no wait."""
    restart: bool = False
    """True: a failure is logged, and the component runs again after a pause."""

    async def live(self) -> None:
        """Run until cancelled."""
        if self.after is not None:
            await self.after.wait()
        if self.restart:
            await keep_running(self.name, self.run)
        else:
            await self.run()


@asynccontextmanager
async def running(components: Sequence[Component]) -> AsyncIterator[None]:
    """Run the components until the end of the block. Raises their errors in an `ExceptionGroup`."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(component.live(), name=component.name) for component in components]
        yield
        for task in tasks:
            task.cancel()
