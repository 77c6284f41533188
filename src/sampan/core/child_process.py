"""`ChildProcess`: a program that runs beside this one, begun without a fork.

uvloop begins programs by fork, and what libraries have registered runs in the new process before the program does. gRPC
is such a library, and crashes there when its threads were busy: one start in ten under load (grpcio 1.85). `subprocess`
uses vfork, which runs nothing of theirs.

Concurrency: a thread for each process waits for its end; it does not keep this program from ending.
"""

import asyncio
import subprocess
import threading
from collections.abc import Sequence
from typing import IO


class ChildProcess:
    """A program that was begun. Its input is a pipe, what it prints goes nowhere, errors to where this one's go.

    It has a session of its own: what a terminal sends to this program's group, as Ctrl-C does, does not reach it.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Begin it; on an event loop. Raises `OSError`."""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
        )
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        threading.Thread(target=self._watch, name=f"end of {self.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def input(self) -> IO[bytes]:
        """What it reads from."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def is_over(self) -> bool:
        """Whether `wait` returns at once."""
        return self._ended.done()

    async def wait(self) -> int:
        """Its exit code, once it has ended; the negative number of the signal that ended it."""
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        """kill -9. Idempotent."""
        self._process.kill()

    def _watch(self) -> None:
        code = self._process.wait()
        try:
            self._loop.call_soon_threadsafe(self._end, code)
        except RuntimeError:  # the event loop is closed: nobody waits
            return

    def _end(self, code: int) -> None:
        if not self._ended.done():
            self._ended.set_result(code)
