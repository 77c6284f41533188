"""`Process`: a process that this program started, known by a descriptor, so that no other is ever meant by its number.

Concurrency: `wait` may be awaited by several tasks; the exit is told by the descriptor becoming readable.
"""

import asyncio
import os
import signal
from collections.abc import Callable

_LOST: int = 255
"""The exit code of a process that somebody else has waited for."""


class Process:
    """A child of this process. It is reaped when it has ended, whether somebody waits for it or not."""

    def __init__(self, pid: int) -> None:
        """To be made in the running loop, before the process can have been reaped. Raises `OSError`."""
        self.pid = pid
        self._exit_code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pidfd = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(self._pidfd, self._reap)

    @property
    def has_ended(self) -> bool:
        """Whether its exit code is known."""
        return self._exit_code.done()

    async def wait(self) -> int:
        """The exit code; 128 + the signal when a signal ended it."""
        return await asyncio.shield(self._exit_code)

    def on_end(self, callback: Callable[[], object]) -> None:
        """Have a function called in the loop when it has ended."""
        self._exit_code.add_done_callback(lambda _: callback())

    def send_signal(self, number: int) -> None:
        """Nothing happens once it has ended."""
        if not self.has_ended:
            signal.pidfd_send_signal(self._pidfd, number)

    def kill_group(self) -> None:
        """End it and all of its process group; nothing happens once it has ended."""
        if self.has_ended:
            return
        self.send_signal(signal.SIGKILL)
        try:
            # Its number cannot be another's: it is not reaped yet.
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
