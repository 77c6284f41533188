"""`Runtime`: what the agent of a node asks of whatever runs containers there.

The agent decides what is to run, and when it is to run again; a runtime does it and tells what has become of it.
It is asked in terms of sandboxes and containers, so that a CRI runtime fits as well as one without any containers.
"""

import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sampan.node.sessions import Connection, ContainerConfig, Session, Streams, Usage
from sampan.node.views import Container, Pod


@dataclass(frozen=True, slots=True)
class ContainerRecord:
    """The newest run of a container. Never changed: a change is another record."""

    name: str
    id: str
    """With the runtime's name as its scheme: `simulated://…`."""
    image_id: str
    restart_count: int
    started_at: dt.datetime
    started: bool = True
    """Whether its startup probe has passed."""
    ready: bool = True
    """Whether its readiness probe passes."""
    finished_at: dt.datetime | None = None
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    previous: "ContainerRecord | None" = None
    """The run before; its own `previous` may be lost."""

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.finished_at is None


class ImageError(Exception):
    """A container's image is not there. The text says why."""

    def __init__(self, reason: str, message: str) -> None:
        """`reason`: ErrImagePull, ErrImageNeverPull or InvalidImageName."""
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Which part of a container's log (v1.PodLogOptions)."""

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since_seconds: int | None = None
    since_time: dt.datetime | None = None
    stream: str = "All"
    """All, Stdout or Stderr."""


class Runtime(Protocol):
    """Runs the Pods of one node. All methods are idempotent: the agent may ask again after anything failed.

    Whenever a container changes on its own (it ended, it became ready) the runtime calls the function that it was
    made with, with the Pod's key.
    """

    @property
    def version(self) -> str:
        """Name and version as a Node tells them: `containerd://2.1.0`."""
        ...

    @property
    def takes_config(self) -> bool:
        """Whether containers need a `ContainerConfig`: volumes, environment. The simulated ones do not."""
        ...

    def recover(self, pods: Sequence[Pod]) -> None:
        """Called once, before all else, with the Pods that are bound to the node."""
        ...

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        """Have a sandbox for a Pod (its network), and give its addresses."""
        ...

    async def ensure_image(self, pod: Pod, container: Container) -> None:
        """Have the image of a Pod's container. Raises `ImageError`."""
        ...

    async def start_container(
        self, pod: Pod, container: Container, restart_count: int, config: ContainerConfig | None = None
    ) -> None:
        """Start a container; the same `restart_count` again changes nothing. A process that cannot be started is a
        container that has ended (reason StartError, exit code 128).
        """
        ...

    def containers(self, uid: str) -> Mapping[str, ContainerRecord]:
        """The containers of a Pod by name, init containers too; empty for one that is not known."""
        ...

    async def stop_containers(self, pod: Pod, names: Sequence[str], grace_s: float) -> None:
        """Ask containers to end, and make them after `grace_s`. Returns at once: the ends are told as they come."""
        ...

    async def stop_sandbox(self, uid: str) -> None:
        """All containers of a Pod have ended for good: its addresses are free. Logs and records stay."""
        ...

    async def remove(self, uid: str) -> None:
        """Forget a Pod with all that it has; what still runs is ended at once."""
        ...

    def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """A container's log. Raises `LookupError` for a container that has none."""
        ...

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> Session:
        """Start a process beside those of a running container. Raises `LookupError`, `Unsupported`."""
        ...

    async def attach(self, pod: Pod, container: str, streams: Streams) -> Session:
        """The streams of a container's own process. Raises `LookupError`, `Unsupported`."""
        ...

    async def port_forward(self, pod: Pod, port: int) -> Connection:
        """Connect to a port of a Pod. Raises `OSError`, `LookupError`, `Unsupported`."""
        ...

    def usage(self, uid: str) -> Mapping[str, Usage]:
        """What the running containers of a Pod use, by name; empty when that is not known."""
        ...
