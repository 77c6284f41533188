"""Run programs without fork: `ChildProcess` is a running program, `capture_output` returns a program's output.

uvloop starts programs with fork, which runs handlers that libraries have registered before the program starts. gRPC
registers such handlers, and they crash when the threads of gRPC are busy: one start in ten under load (grpcio 1.85).
`subprocess` uses vfork, which runs no handlers.

Concurrency: one daemon thread for each process waits for it to exit.
"""

import asyncio
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class ChildProcess:
    """Running program. Its stdin is a socket, its stdout is discarded, and it inherits stderr.

    It runs in a new session, so signals that a terminal sends to this process group, such as Ctrl-C, do not reach it.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Start the program; requires a running event loop. Raises `OSError`."""
        self.channel, theirs = socket.socketpair()
        """The other end of the program's stdin. To close it ends the input of the program."""
        try:
            with theirs:
                self._process = subprocess.Popen(
                    command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, start_new_session=True
                )
        except BaseException:
            self.channel.close()
            raise
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        threading.Thread(target=self._watch, name=f"end of {self.pid}", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_exited(self) -> bool:
        """Report whether the program has exited, so that `wait` returns at once."""
        return self._ended.done()

    async def wait(self) -> int:
        """Wait for the program to exit; return its exit code, or the negative number of the signal that killed it."""
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        """Send SIGKILL. Idempotent."""
        self._process.kill()

    def _watch(self) -> None:
        _set_result(self._loop, self._ended, self._process.wait())


async def capture_output(
    command: Sequence[str], *, env: Mapping[str, str], stdin: int | None, bytes_max: int
) -> tuple[int, bytes]:
    """Run a program until it exits; return its exit code (negative: the signal that killed it) and its output.

    Reads at most `bytes_max` bytes; a program that writes more gets SIGPIPE. Cancelling this call kills the program.
    `stdin` is passed to `subprocess.Popen`. Raises `OSError`.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[tuple[int, bytes]] = loop.create_future()
    kill = _start(command, env, stdin, bytes_max, lambda code, text: _set_result(loop, ended, (code, text)))
    try:
        return await ended
    finally:
        kill()


def _start(
    command: Sequence[str],
    env: Mapping[str, str],
    stdin: int | None,
    bytes_max: int,
    done: Callable[[int, bytes], None],
) -> Callable[[], None]:
    """Start a program, and a thread that reads its output. Return a function that kills it. Raises `OSError`."""
    process = subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, env=env)

    def read() -> None:
        assert process.stdout is not None
        with process.stdout as output:
            text = output.read(bytes_max)
        done(process.wait(), text)

    threading.Thread(target=read, name=f"output of {process.pid}", daemon=True).start()
    return process.kill


def _set_result(loop: asyncio.AbstractEventLoop, future: "asyncio.Future[T]", result: T) -> None:
    """Set the result of a future of this loop, from another thread."""

    def done() -> None:
        if not future.done():
            future.set_result(result)

    with suppress(RuntimeError):  # the event loop is closed, so no task waits
        loop.call_soon_threadsafe(done)
