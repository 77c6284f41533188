"""Sessions of processes: for `exec` and `attach`."""

import asyncio
import signal
from collections.abc import Callable
from typing import Final

from sampan.core.event_loop.task_scope import TaskScope
from sampan.node.process.process import Process
from sampan.node.process.running import RunningContainer
from sampan.node.process.streams.output import Output
from sampan.node.process.streams.pipes import ReadEnd
from sampan.node.process.streams.stdio import Stdio
from sampan.node.sessions import Streams

_LINGER_S: Final = 0.3
"""Time to wait for more output of a process that has ended, while other processes have its streams open."""
_HANG_UP_S: Final = 0.5
"""Time that a process has to end after its client has disconnected."""


class ExecSession:
    """Session of a process that `exec` has started.

    Output is read at the client's speed. The process blocks until its output is read.
    """

    def __init__(self, process: Process, stdio: Stdio) -> None:
        self._process = process
        self._stdio = stdio
        self._is_closing = False
        loop = asyncio.get_running_loop()
        process.on_end(lambda: loop.call_later(_LINGER_S, stdio.finish))

    async def write_stdin(self, data: bytes) -> None:
        """Write to the process's input."""
        if self._stdio.stdin is not None:
            await self._stdio.stdin.write(data)

    async def close_stdin(self) -> None:
        """End the process's input."""
        if self._stdio.stdin is not None:
            await self._stdio.stdin.finish()

    async def read_stdout(self) -> bytes:
        """Return the next output."""
        return await self._read(self._stdio.stdout)

    async def read_stderr(self) -> bytes:
        """Return the next output on stderr."""
        return await self._read(self._stdio.stderr)

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal."""
        self._stdio.resize(columns, rows)

    async def wait(self) -> int:
        """Return the exit code."""
        return await self._process.wait()

    async def close(self) -> None:
        """Send SIGHUP to the process, and kill it if it does not end."""
        if self._is_closing:
            return
        self._is_closing = True
        self._stdio.close()
        try:
            self._process.send_signal(signal.SIGHUP)
            async with asyncio.timeout(_HANG_UP_S):
                await self._process.wait()
        except TimeoutError:
            pass
        finally:
            self._process.kill_group()

    async def _read(self, end: ReadEnd | None) -> bytes:
        return b"" if end is None else await end.read()


class FailedSession:
    """Session of a process that could not be started. Its stderr contains the reason. It has already ended."""

    def __init__(self, message: str) -> None:
        self._message = message.encode() + b"\n"
        self._exit_code = 127 if "not found" in message or "no such file" in message else 126

    async def write_stdin(self, data: bytes) -> None:
        """Drop the data."""

    async def close_stdin(self) -> None:
        """Do nothing."""

    async def read_stdout(self) -> bytes:
        """Return empty data: the end of the output."""
        return b""

    async def read_stderr(self) -> bytes:
        """Return the reason once."""
        message, self._message = self._message, b""
        return message

    def resize(self, columns: int, rows: int) -> None:
        """Do nothing."""

    async def wait(self) -> int:
        """Return 127 if the program does not exist, and 126 if it cannot be executed, as shells do."""
        return self._exit_code

    async def close(self) -> None:
        """Do nothing."""


class AttachSession:
    """Session with a container's main process.

    It only has the output from now on. A client that is too slow is detached with a notice.

    At the end of the client's input, the container's input ends too (`closes_stdin`), or the client is detached.
    Source: containerd internal/cri/io/container_io.go `Attach` (2.1).
    """

    def __init__(self, container: RunningContainer, streams: Streams, *, closes_stdin: bool) -> None:
        """`closes_stdin`: the container has stdinOnce and no terminal."""
        self._container = container
        self._stdin = container.stdio.stdin if streams.stdin else None
        self._closes_stdin = closes_stdin
        self._detached = asyncio.Event()
        self._leave: list[Callable[[], None]] = []
        self._stdout = self._join("stdout", streams.stdout)
        self._stderr = self._join("stderr", streams.stderr and container.stdio.stderr is not None)

    async def write_stdin(self, data: bytes) -> None:
        """Write to the container's input."""
        if self._stdin is not None:
            await self._stdin.write(data)

    async def close_stdin(self) -> None:
        """End the container's input, or detach the client. In both cases the container keeps running."""
        stdin, self._stdin = self._stdin, None
        if stdin is None:
            return
        if self._closes_stdin:
            await stdin.finish()
        else:
            self._detach()

    async def read_stdout(self) -> bytes:
        """Return the container's next output."""
        return await self._stdout.read()

    async def read_stderr(self) -> bytes:
        """Return the container's next output on stderr."""
        return await self._stderr.read()

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the container's terminal."""
        self._container.stdio.resize(columns, rows)

    async def wait(self) -> int:
        """Return the container's exit code; 0 as soon as the client is detached."""
        async with TaskScope() as tasks:
            ended, detached = tasks.begin(self._container.ended()), tasks.begin(self._detached.wait())
            await asyncio.wait((ended, detached), return_when=asyncio.FIRST_COMPLETED)
            return ended.result() if ended.done() else 0

    async def close(self) -> None:
        """Detach the client. The container keeps running."""
        self._detach()
        if self._closes_stdin:
            await self.close_stdin()

    def _detach(self) -> None:
        for leave in self._leave:
            leave()
        self._detached.set()

    def _join(self, stream: str, desired: bool) -> Output:
        output, leave = self._container.clients.join(stream)
        self._leave.append(leave)
        if not desired:
            leave()
        return output
