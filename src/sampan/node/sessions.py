"""Types that runtimes and the agent exchange: `ContainerSession` for exec and attach, and `ContainerConfig` for starts.

A runtime without processes (the simulated one) raises `Unsupported`.
Source: kubelet pkg/kubelet/container/runtime.go, cri-api pkg/apis/runtime/v1 (1.36).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


class Unsupported(Exception):
    """The runtime does not support the operation. The message is sent to the client."""


class SessionFailed(Exception):
    """The process of a session could not be started. The message is from the runtime."""


@dataclass(frozen=True, slots=True)
class Streams:
    """Selection of a process's streams."""

    stdin: bool = False
    stdout: bool = True
    stderr: bool = True
    tty: bool = False
    """True if the process has a terminal. Then stderr is part of stdout."""


class ContainerSession(Protocol):
    """Streams of a process in a container, for one client. Only one task may use each stream at a time."""

    async def write_stdin(self, data: bytes) -> None:
        """Write to the process's input. Waits while the process does not read. Does nothing once it has ended."""
        ...

    async def close_stdin(self) -> None:
        """End the process's input."""
        ...

    async def read_stdout(self) -> bytes:
        """Return the next output, at least one byte; empty at the end."""
        ...

    async def read_stderr(self) -> bytes:
        """Return the next output on stderr, at least one byte; empty at the end."""
        ...

    def resize(self, columns: int, rows: int) -> None:
        """Set the size of the client's terminal. Does nothing without a terminal."""
        ...

    async def wait(self) -> int:
        """Return the exit code; 128 + the signal if a signal ended the process. Raises `SessionFailed`."""
        ...

    async def close(self) -> None:
        """End the session. A process of `exec` is stopped; an attached container keeps running. May be called twice."""
        ...


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
"""Connection to a port of a Pod."""


@dataclass(frozen=True, slots=True)
class Mount:
    """Directory or file that is mounted in a container."""

    name: str
    """Name of the volume."""
    host_path: str
    container_path: str
    read_only: bool = False
    image: str = ""
    """Image whose files are mounted, instead of those of `host_path`."""
    image_sub_path: str = ""
    identity: tuple[int, int] | None = None
    """Device and inode of the file at `host_path`, if containers can replace it: nothing else may be mounted."""


@dataclass(frozen=True, slots=True)
class ContainerConfig:
    """Configuration of a container: all references are resolved, and all `$(NAME)` are expanded."""

    command: Sequence[str] = ()
    """Command of the container; empty for the image's entrypoint."""
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables, in the order of their definition."""
    mounts: Sequence[Mount] = ()
    devices: Sequence[Mount] = ()
    """Volumes that the container gets as block devices."""
    working_dir: str = ""
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    memory_limit_bytes: int | None = None
    run_as_user: int | None = None
    run_as_group: int | None = None
    groups: Sequence[int] = ()
    """Supplementary groups."""
    host_name: str = ""
    termination_message_path: str = ""
    """File whose content becomes the termination message; empty to read no file."""
    termination_message_policy: str = "File"
    """FallbackToLogsOnError: use the end of the log if the file is empty."""
    stop_signal: str = ""
    """Stop signal, such as `SIGUSR1`; empty for the image's stop signal, or else SIGTERM."""
    read_only_root: bool = False


@dataclass(frozen=True, slots=True)
class ContainerStats:
    """Resource usage of a container."""

    cpu_s: float
    """Seconds of CPU time since the container's start."""
    memory_bytes: int
    """Memory in the working set."""
    disk_bytes: int = 0
    """Disk use of the writable layer; 0 if the runtime does not measure it."""
    inodes: int = 0
    """Number of inodes in the writable layer."""
    rss_bytes: int | None = None
    """Anonymous memory that is in RAM; None if the runtime does not measure it."""
    total_memory_bytes: int | None = None
    """All memory, with the caches that can be dropped; None if the runtime does not measure it."""
    measured_s: float = 0.0
    """Time of the measurement, in seconds since the epoch; 0: now."""


@dataclass(frozen=True, slots=True)
class InterfaceUsage:
    """Traffic of a Pod's network interface since its creation."""

    name: str
    received_bytes: int
    received_errors: int
    sent_bytes: int
    sent_errors: int
