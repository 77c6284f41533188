"""`RunningContainer`: one run of a container, from its start to its end.

Concurrency: `supervise` is a task of the runtime. Two tasks in it copy the output to the log and to attached clients. A
slow disk delays them for the time of a write; a slow client never delays them.
"""

import asyncio
import signal
from typing import Final

from sampan.node.process.images import Image
from sampan.node.process.launch import LaunchSpec
from sampan.node.process.logs.log_file import LogFile
from sampan.node.process.proc import handles_signal, kill_marked
from sampan.node.process.process import Process
from sampan.node.process.streams.output import AttachedClients
from sampan.node.process.streams.pipes import ReadEnd
from sampan.node.process.streams.stdio import Stdio

_DRAIN_S: Final = 2.0
"""Time to wait for the output of a container that has ended, if another process has its streams open."""


class RunningContainer:
    """Container whose program has been started."""

    def __init__(self, process: Process, stdio: Stdio, log: LogFile, *, program: LaunchSpec, image: Image) -> None:
        self.process = process
        self.stdio = stdio
        self.log = log
        self.program = program
        self.image = image
        self.clients = AttachedClients()
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._ended_by = 0
        self._kill_at: asyncio.TimerHandle | None = None
        self._kill_at_s = 0.0

    async def ended(self) -> int:
        """Return the exit code, once all output is in the log."""
        return await asyncio.shield(self._ended)

    async def supervise(self, mark: str) -> int:
        """Supervise the run to its end. `mark` identifies its processes; empty if they are in a process namespace.

        Cancellation kills the container.
        """
        drain: asyncio.TimerHandle | None = None
        code = 128 + signal.SIGKILL
        try:
            async with asyncio.TaskGroup() as group:
                for name, end in (("stdout", self.stdio.stdout), ("stderr", self.stdio.stderr)):
                    group.create_task(self._carry(name, end))
                code = await self.process.wait()
                if mark:
                    await asyncio.to_thread(kill_marked, mark)
                drain = asyncio.get_running_loop().call_later(_DRAIN_S, self.stdio.finish)
        finally:
            self.process.kill_group()
            for timer in (drain, self._kill_at):
                if timer is not None:
                    timer.cancel()
            self.stdio.close()
            self.log.close()
            for name in ("stdout", "stderr"):
                self.clients.end(name)
            code = 128 + self._ended_by if self._ended_by else code
            self._ended.set_result(code)
        return code

    def stop(self, number: int, grace_s: float) -> None:
        """Send a signal once, and kill the container after `grace_s`. A second call has no effect."""
        if self.process.has_ended:
            return
        loop = asyncio.get_running_loop()
        if self._kill_at is None:
            self._send(number)
        kill_at_s = loop.time() + max(0.0, grace_s)
        if self._kill_at is None or kill_at_s < self._kill_at_s:
            if self._kill_at is not None:
                self._kill_at.cancel()
            self._kill_at_s = kill_at_s
            self._kill_at = loop.call_at(kill_at_s, self.process.kill_group)

    def kill(self) -> None:
        """Send SIGKILL to the process of the container and to its process group."""
        self.process.kill_group()

    def _send(self, number: int) -> None:
        """Send a signal. Kill the first process of a namespace instead if the kernel would drop the signal."""
        if self.program.view is not None and not handles_signal(self.process.pid, number):
            self._ended_by = number
            self.process.send_signal(signal.SIGKILL)
        else:
            self.process.send_signal(number)

    async def _carry(self, stream: str, end: ReadEnd | None) -> None:
        while end is not None and (data := await end.read()):
            self.log.write(stream, data)
            self.clients.write(stream, data)
            await asyncio.sleep(0)  # Let other tasks run, even if there is always more to read.
