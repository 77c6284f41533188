"""`Stdio`: both ends of a process's standard streams."""

import fcntl
import os
import struct
import termios
from dataclasses import dataclass, field
from typing import Final

from sampan.node.process.streams.pipes import ReadEnd, WriteEnd
from sampan.node.sessions import Streams

_END_OF_FILE: Final = b"\x04"
"""Character that ends the input of a terminal (Ctrl-D)."""


@dataclass(slots=True)
class Stdio:
    """Standard streams. The agent's ends are open until `close`, the process's ends until `release`."""

    stdin: WriteEnd | None = None
    stdout: ReadEnd | None = None
    stderr: ReadEnd | None = None
    child: list[int] = field(default_factory=list)
    """The process's descriptors 0, 1, 2, in this order."""
    terminal: int | None = None

    def release(self) -> None:
        """Close the agent's copies of the process's ends. Otherwise the output would never end."""
        for fd in set(self.child):
            os.close(fd)
        self.child = []

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the terminal, if there is one."""
        if self.terminal is not None:
            size = struct.pack("HHHH", min(rows, 0xFFFF), min(columns, 0xFFFF), 0, 0)
            fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, size)

    def finish(self) -> None:
        """End the output after the data that is available now, because the process has ended."""
        for end in (self.stdout, self.stderr):
            if end is not None:
                end.finish()

    def close(self) -> None:
        """Close all ends. May be called twice."""
        self.release()
        for end in (self.stdin, self.stdout, self.stderr):
            if end is not None:
                end.close()
        if self.terminal is not None:
            os.close(self.terminal)
            self.terminal = None


def open_stdio(streams: Streams) -> Stdio:
    """Open the selected streams; the other streams are /dev/null. Raises `OSError` if there are no descriptors left."""
    stdio = Stdio()
    try:
        if streams.tty:
            _open_terminal(stdio, streams)
        else:
            _open_pipes(stdio, streams)
    except OSError:
        stdio.close()
        raise
    return stdio


def _open_terminal(stdio: Stdio, streams: Streams) -> None:
    master, slave = os.openpty()
    stdio.terminal = master
    stdio.child = [slave, slave, slave]
    stdio.stdout = ReadEnd(os.dup(master))
    if streams.stdin:
        stdio.stdin = WriteEnd(os.dup(master), _END_OF_FILE)


def _open_pipes(stdio: Stdio, streams: Streams) -> None:
    if streams.stdin:
        theirs, ours = os.pipe()
        stdio.child.append(theirs)
        stdio.stdin = WriteEnd(ours)
    else:
        stdio.child.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    for name, desired in (("stdout", streams.stdout), ("stderr", streams.stderr)):
        if desired:
            ours, theirs = os.pipe()
            stdio.child.append(theirs)
            setattr(stdio, name, ReadEnd(ours))
        else:
            stdio.child.append(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC))
