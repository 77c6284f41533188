"""`sampan up` that forgets its history on a signal: each SIGUSR1 is an interval of the compactor.

Its watch caches keep one event of each resource. It writes a line to stdout when the compactor waits again. It is run
as a program.
"""

import asyncio
import signal
from functools import partial

from sampan.app import cluster as app
from sampan.cli.main import main
from sampan.registry import cluster as registry
from sampan.storage.cache import WatchCache
from sampan.storage.compactor import Compactor


class Received:
    """The clock of the compactor: an interval ends with each signal."""

    def __init__(self) -> None:
        self._signalled: asyncio.Event | None = None

    async def sleep(self, _: float) -> None:
        """Wait for the next signal."""
        if self._signalled is None:
            self._signalled = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._signalled.set)
        else:
            print("compacted", flush=True)
        await self._signalled.wait()
        self._signalled.clear()


if __name__ == "__main__":
    # The settings have no names for these: only a test needs so short a memory.
    setattr(app, "Compactor", partial(Compactor, sleep=Received().sleep))  # noqa: B010
    setattr(registry, "WatchCache", partial(WatchCache, history_window_s=0, events_min=1))  # noqa: B010
    main()
