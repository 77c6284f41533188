"""Facts about processes from /proc: start time, parents, resource usage.

Concurrency: plain reads; a process may end before each read. Reading all processes takes about 20 µs for each.
"""

import os
import select
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from sampan.core.clock import monotonic

MARK: Final = "SAMPAN_CONTAINER_ID"
"""Environment variable that identifies the processes of a container, even after they have left its process group."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_ROUNDS_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """Fields of /proc/<pid>/stat."""

    pid: int
    parent: int
    session: int
    state: str
    cpu_s: float
    """CPU time of the process and of the children that it has waited for."""
    memory_bytes: int
    start_ticks: int
    """Start time in clock ticks since the machine's start. Together with the pid, it identifies a process."""


def process_stat(pid: int) -> ProcessStat | None:
    """Return the fields of a process; None if the process does not exist."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return ProcessStat(
        pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        state=fields[0].decode(),
        cpu_s=sum(map(int, fields[11:15])) / _TICKS,
        memory_bytes=int(fields[21]) * _PAGE_BYTES,
        start_ticks=int(fields[19]),
    )


def boot_id() -> str:
    """Return the id of this boot of the machine."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def processes() -> list[ProcessStat]:
    """Read all processes of the machine, including zombies."""
    found = (process_stat(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [each for each in found if each is not None]


def family(table: Iterable[ProcessStat], pid: int) -> list[ProcessStat]:
    """Return a process, its session, and all descendants whose parents are known."""
    children: dict[int, list[ProcessStat]] = {}
    found: dict[int, ProcessStat] = {}
    for each in table:
        children.setdefault(each.parent, []).append(each)
        if pid in (each.pid, each.session):
            found[each.pid] = each
    left = list(found.values())
    while left:
        for child in children.get(left.pop().pid, ()):
            if child.pid not in found:
                found[child.pid] = child
                left.append(child)
    return list(found.values())


def handles_signal(pid: int, number: int) -> bool:
    """Return whether a process catches, ignores or blocks a signal.

    Otherwise the signal ends it. Only for the first process of a process namespace, the kernel drops the signal.
    """
    try:
        with open(f"/proc/{pid}/status") as file:
            masks = dict(line.split(":", 1) for line in file)
    except (FileNotFoundError, ProcessLookupError):
        return True
    handled = int(masks["SigCgt"], 16) | int(masks["SigIgn"], 16) | int(masks["SigBlk"], 16)
    return bool(handled >> (number - 1) & 1)


def kill_marked(mark: str, deadline_s: float = 2.0) -> None:
    """Kill all processes that have this container's mark in their environment, and wait until they have ended.

    Blocks up to `deadline_s`. Processes that are started during the call are killed too.
    """
    needle = f"{MARK}={mark}".encode()
    _kill_until_gone(lambda pid: needle in _environment(pid).split(b"\0"), deadline_s)


def kill_family(pid: int, start_ticks: int, deadline_s: float = 2.0) -> None:
    """Kill the process with this number and its family, if it is still the process that started at `start_ticks`."""
    stat = process_stat(pid)
    if stat is None or stat.start_ticks != start_ticks:
        return
    members = {each.pid: each.start_ticks for each in family(processes(), pid)}

    def is_member(candidate: int) -> bool:
        found = process_stat(candidate)
        return found is not None and found.state != "Z" and members.get(candidate) == found.start_ticks

    _kill_until_gone(is_member, deadline_s)


def _kill_until_gone(is_meant: Callable[[int], bool], deadline_s: float) -> None:
    deadline = monotonic() + deadline_s
    for _ in range(_ROUNDS_MAX):
        pidfds = [pidfd for name in os.listdir("/proc") if name.isdigit() and (pidfd := _killed(int(name), is_meant))]
        if not pidfds:
            return
        poll = select.poll()
        for pidfd in pidfds:
            poll.register(pidfd, select.POLLIN)
        left = len(pidfds)
        while left > 0 and monotonic() < deadline:
            gone = poll.poll(max(1.0, (deadline - monotonic()) * 1000))
            for pidfd, _ in gone:
                poll.unregister(pidfd)
            left -= len(gone)
        for pidfd in pidfds:
            os.close(pidfd)
        if monotonic() >= deadline:
            return


def _killed(pid: int, is_meant: Callable[[int], bool]) -> int:
    """Kill a process if it is the expected one. Returns its pidfd, or 0 if it is another process."""
    if pid == os.getpid() or not is_meant(pid):
        return 0
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return 0
    # The number may have been reused before the descriptor was opened, so check the start time again.
    if is_meant(pid):
        try:
            signal.pidfd_send_signal(pidfd, signal.SIGKILL)
            return pidfd
        except (ProcessLookupError, PermissionError):
            pass
    os.close(pidfd)
    return 0


def _environment(pid: int) -> bytes:
    """Return the environment of a process; empty if it has ended, or belongs to another user."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""
