"""`Process`: child process identified by a pidfd, so that a reused pid can never be signalled.

Concurrency: several tasks may await `wait`. The pidfd becomes readable when the process ends.
"""

import asyncio
import os
import signal
from collections.abc import Callable

_LOST: int = 255
"""Exit code of a process that other code has reaped."""


class Process:
    """Child of this process. It is reaped as soon as it ends, whether a task waits for it or not."""

    def __init__(self, pid: int) -> None:
        """Construct it in the running loop before the process can have been reaped. Raises `OSError`."""
        self.pid = pid
        self._exit_code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pidfd = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(self._pidfd, self._reap)

    @property
    def has_ended(self) -> bool:
        """True if the exit code is known."""
        return self._exit_code.done()

    async def wait(self) -> int:
        """Return the exit code; 128 + the signal if a signal ended the process."""
        return await asyncio.shield(self._exit_code)

    def on_end(self, callback: Callable[[], object]) -> None:
        """Call a function in the loop when the process has ended."""
        self._exit_code.add_done_callback(lambda _: callback())

    def send_signal(self, number: int) -> None:
        """Send a signal. Does nothing once the process has ended."""
        if not self.has_ended:
            signal.pidfd_send_signal(self._pidfd, number)

    def kill_group(self) -> None:
        """Kill the process and its process group. Does nothing once the process has ended."""
        if self.has_ended:
            return
        self.send_signal(signal.SIGKILL)
        try:
            # The process is not reaped yet, so the kernel cannot have reused its number.
            os.killpg(self.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass

    def _reap(self) -> None:
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            pid, code = self.pid, _LOST
        else:
            code = os.waitstatus_to_exitcode(status) if pid else 0
        if pid:
            asyncio.get_running_loop().remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._exit_code.set_result(code if code >= 0 else 128 - code)
