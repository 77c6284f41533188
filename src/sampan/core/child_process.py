"""Programs, begun without a fork: `ChildProcess` runs beside this one, `printed` tells what one prints.

uvloop begins programs by fork, and what libraries have registered runs in the new process before the program does. gRPC
is such a library, and crashes there when its threads were busy: one start in ten under load (grpcio 1.85). `subprocess`
uses vfork, which runs nothing of theirs.

Concurrency: a thread for each process waits for its end; it does not keep this program from ending.
"""

import asyncio
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import IO, TypeVar

T = TypeVar("T")


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
        _tell(self._loop, self._ended, self._process.wait())


async def printed(
    command: Sequence[str], *, env: Mapping[str, str], stdin: int | None, bytes_max: int
) -> tuple[int, bytes]:
    """Run a program to its end; gives its exit code (negative: the signal that ended it) and what it printed.

    Of what it prints `bytes_max` are read; one that prints more gets SIGPIPE. Who is cancelled kills it. `stdin`: as
    for `subprocess.Popen`. Raises `OSError`.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[int, bytes]] = loop.create_future()
    kill = _begin(command, env, stdin, bytes_max, lambda code, text: _tell(loop, ended, (code, text)))
    try:
        return await ended
    finally:
        kill()


def _begin(
    command: Sequence[str],
    env: Mapping[str, str],
    stdin: int | None,
    bytes_max: int,
    tell: Callable[[int, bytes], None],
) -> Callable[[], None]:
    """Begin a program that a thread reads from; gives what ends it. Raises `OSError`."""
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, env=env)

    def read() -> None:
        assert process.stdout is not None
        with process.stdout as output:
            text = output.read(bytes_max)
        tell(process.wait(), text)

    threading.Thread(target=read, name=f"output of {process.pid}", daemon=True).start()
    return process.kill


def _tell(loop: asyncio.AbstractEventLoop, future: "asyncio.Future[T]", result: T) -> None:
    """Set the result of a future of this loop, from a thread."""

    def tell() -> None:
        if not future.done():
            future.set_result(result)

    with suppress(RuntimeError):  # the event loop is closed: nobody waits
        loop.call_soon_threadsafe(tell)
