"""`Inhibitor`: delays the shutdown of a machine with systemd, and waits for its announcement.

It uses two programs of systemd: `systemd-inhibit` holds the lock while its child runs, and `busctl` prints logind's
signal PrepareForShutdown.
Concurrency: `announced` owns `busctl`; the lock is a process that `release` ends.
Source: kubelet pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go (1.36).
"""

import asyncio
import contextlib
import json
import logging
import shutil
from pathlib import Path
from typing import Final

_SYSTEMD: Final = Path("/run/systemd/system")
_MATCH: Final = "type='signal',interface='org.freedesktop.login1.Manager',member='PrepareForShutdown'"
_PROPERTY: Final = ("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "InhibitDelayMaxUSec")
_MICROSECONDS: Final = 1_000_000
_log = logging.getLogger("sampan.node")


def has_systemd(directory: Path = _SYSTEMD) -> bool:
    """Return whether systemd runs this machine, and `systemd-inhibit` and `busctl` exist."""
    return directory.is_dir() and all(map(shutil.which, ("systemd-inhibit", "busctl")))


class Inhibitor:
    """Lock that delays a shutdown."""

    def __init__(self) -> None:
        self._lock: asyncio.subprocess.Process | None = None

    async def acquire(self, needed_s: float) -> None:
        """Take the lock. Logs a warning if logind waits for less than `needed_s`."""
        await self.release()
        self._lock = await _start(
            "systemd-inhibit",
            "--what=shutdown",
            "--mode=delay",
            "--who=sampan",
            "--why=Pods need time to end",
            "cat",
            stdin=asyncio.subprocess.PIPE,
        )
        allowed_s = await _delay_max_s()
        if allowed_s is not None and allowed_s < needed_s:
            _log.warning(
                "logind waits for less time than a shutdown of the node needs: "
                "set InhibitDelayMaxSec in /etc/systemd/logind.conf",
                extra={"logind_s": allowed_s, "needed_s": needed_s},
            )

    async def release(self) -> None:
        """Release the lock, so that the shutdown continues."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        if lock.stdin is not None:
            lock.stdin.close()  # The child `cat` ends, and with it the lock.
        await lock.wait()

    async def announced(self) -> None:
        """Wait until logind announces a shutdown. Raises `OSError` if logind's signals cannot be watched."""
        monitor = await _start("busctl", "--system", "--json=short", f"--match={_MATCH}", "monitor")
        try:
            assert monitor.stdout is not None
            async for line in monitor.stdout:
                if announces(line):
                    return
            raise OSError(f"busctl ended with exit code {await monitor.wait()}")
        finally:
            with contextlib.suppress(ProcessLookupError):
                monitor.kill()
            await monitor.wait()


def announces(line: bytes) -> bool:
    """Return whether a line of `busctl` is the announcement of a shutdown, and not of its cancellation."""
    try:
        message = json.loads(line)
        return message.get("member") == "PrepareForShutdown" and message["payload"]["data"][0] is True
    except (ValueError, LookupError, TypeError, AttributeError):
        return False


async def _delay_max_s() -> float | None:
    """Return the seconds that logind waits for a lock; None if the time is unknown."""
    process = await _start("busctl", "--system", "get-property", "org.freedesktop.login1", *_PROPERTY)
    output, _ = await process.communicate()
    words = output.split()
    return int(words[1]) / _MICROSECONDS if len(words) > 1 and words[1].isdigit() else None


async def _start(*command: str, stdin: int = asyncio.subprocess.DEVNULL) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *command, stdin=stdin, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
