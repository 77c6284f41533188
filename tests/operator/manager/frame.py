"""Managers that need no server, and runnables that note what happens to them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sampan.client.client import Client
from sampan.client.transport import HttpRequest, HttpResponse
from sampan.operator.manager import Manager, ManagerOptions
from sampan.testing.time.virtual_time import settle


class NoTransport:
    """Transport whose requests fail."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        raise AssertionError(f"unexpected request for {request.target}")

    async def aclose(self) -> None:
        """Nothing to close."""


def manager(options: ManagerOptions = ManagerOptions()) -> Manager:
    return Manager(Client(NoTransport()), options)


class Part:
    """A runnable that writes its starts and ends into a common log."""

    def __init__(self, name: str, log: list[str], *, ready_after_s: float = 0.0, stop_s: float = 0.0) -> None:
        self._name = name
        self._log = log
        self._ready_after_s = ready_after_s
        self._stop_s = stop_s

    def __str__(self) -> str:
        return self._name

    async def run(self) -> None:
        self._log.append(f"+{self._name}")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            await asyncio.sleep(self._stop_s)
            self._log.append(f"-{self._name}")

    async def ready(self) -> None:
        await asyncio.sleep(self._ready_after_s)


@asynccontextmanager
async def running(made: Manager) -> AsyncIterator[asyncio.Task[None]]:
    """Run a manager as long as the block lasts."""
    task = asyncio.create_task(made.run())
    await settle()
    try:
        yield task
    finally:
        made.stop()
        await asyncio.wait({task})
