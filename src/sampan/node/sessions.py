"""What a runtime offers to those who want to look into a running container: `Session`, and what containers are given.

A runtime that runs no processes (the simulated one) raises `Unsupported`.
Source: kubelet pkg/kubelet/container/runtime.go, cri-api pkg/apis/runtime/v1 (1.36).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


class Unsupported(Exception):
    """The runtime cannot do that. The text is for the client."""


@dataclass(frozen=True, slots=True)
class Streams:
    """Which streams of a process are wanted."""

    stdin: bool = False
    stdout: bool = True
    stderr: bool = True
    tty: bool = False
    """With a terminal there is no separate stderr."""


class Session(Protocol):
    """The streams of a process in a container, for one client. Each is used by one task at a time."""

    async def write_stdin(self, data: bytes) -> None:
        """Give it input; waits while the process does not read. Nothing happens once it has ended."""
        ...

    async def close_stdin(self) -> None:
        """The end of the input."""
        ...

    async def read_stdout(self) -> bytes:
        """Its next output, at least a byte; nothing at the end."""
        ...

    async def read_stderr(self) -> bytes:
        """The same of its standard error."""
        ...

    def resize(self, columns: int, rows: int) -> None:
        """The size of the client's terminal. Nothing happens without one."""
        ...

    async def wait(self) -> int:
        """The exit code; 128 + the signal when a signal ended it."""
        ...

    async def close(self) -> None:
        """The client has gone: what `exec` has started is ended, what was attached to runs on. May be called twice."""
        ...


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
"""To a port of a Pod."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory or file that a container sees at a path."""

    name: str
    """Of the volume."""
    host_path: str
    container_path: str
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class ContainerConfig:
    """What a container is started with: all references resolved, all `$(NAME)` expanded."""

    command: Sequence[str] = ()
    """Empty: the image's entrypoint."""
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """In the order of their definition."""
    mounts: Sequence[Mount] = ()
    working_dir: str = ""
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    cpu_limit: float | None = None
    """In cores."""
    memory_limit_bytes: int | None = None
    run_as_user: int | None = None
    run_as_group: int | None = None
    groups: Sequence[int] = ()
    """Supplementary groups."""
    host_name: str = ""
    termination_message_path: str = ""
    """What the container writes there is the message of its end; empty: nothing is read."""
    termination_message_policy: str = "File"
    """FallbackToLogsOnError: the end of the log where nothing was written."""
    stop_signal: str = ""
    """`SIGUSR1`, say; empty: the image's, or SIGTERM."""
    read_only_root: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What a container has used."""

    cpu_s: float
    """Seconds of CPU time since its start."""
    memory_bytes: int
    """Working set."""
