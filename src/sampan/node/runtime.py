"""`Runtime`: interface between the node agent and the software that runs containers.

    addresses = await runtime.run_sandbox(pod)
    if not await runtime.find_image(pod, container.image):
        await runtime.pull_image(pod, container.image)
    await runtime.start_container(pod, container, restart_count=0, config=config)

The agent decides which containers run, and when they are restarted. It resolves environment, volumes and users, runs
probes and hooks, and writes the status. A runtime executes and reports. The methods follow CRI (sandboxes, containers,
images, streams, statistics), so that a CRI runtime, local processes and a simulation can all implement them.

Guarantees of every runtime (`tests/node/test_runtime_contract.py`):

- All methods are idempotent: the agent may repeat a call after any failure.
- `containers` reads from memory. A container may change on its own: it exits, or becomes ready. Then the runtime
  calls `changed`, a function of its constructor, with the Pod's key. `containers` shows the change by then.
- The record of an ended container stays until its next run starts, and then as `previous`, until `remove_sandbox`.

A runtime with tasks has a `run` method. The manager runs it as a component.
"""

import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sampan.node.sessions import Connection, ContainerConfig, ContainerSession, ContainerStats, InterfaceUsage, Streams
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod


@dataclass(frozen=True, slots=True)
class ContainerRecord:
    """Newest run of a container. Immutable: each change creates a new record."""

    name: str
    id: str
    """Id with the runtime's name as its scheme: `simulated://…`."""
    image_id: str
    restart_count: int
    started_at: dt.datetime
    started: bool = True
    """True if the startup probe has succeeded, or the container has none."""
    ready: bool = True
    """True if the readiness probe succeeds, or the container has none."""
    finished_at: dt.datetime | None = None
    exit_code: int = 0
    reason: str = ""
    message: str = ""
    restarts: bool = False
    """True if this run ends only so that the next one has other resources. Then the restart policy does not matter."""
    previous: "ContainerRecord | None" = None
    """Run before this one. Its own `previous` may be missing."""

    @property
    def is_running(self) -> bool:
        """True if the container has not ended."""
        return self.finished_at is None


class ImageError(Exception):
    """An image is not available. The text has the reason."""

    def __init__(self, reason: str, message: str) -> None:
        """`reason`: ErrImagePull, ErrImageNeverPull or InvalidImageName."""
        super().__init__(message)
        self.reason = reason


class SandboxError(Exception):
    """A sandbox cannot be created now. The text is for an event of the Pod."""

    def __init__(self, reason: str, message: str, *, retry_s: float = 10.0) -> None:
        """`reason`: reason of the event. `retry_s`: seconds until the next attempt."""
        super().__init__(message)
        self.reason = reason
        self.retry_s = retry_s


class NotCreated(Exception):
    """A container cannot be created now. The text is for the Pod's status and for an event."""

    def __init__(self, reason: str, message: str) -> None:
        """`reason`: CreateContainerError, CreateContainerConfigError or RunContainerError."""
        super().__init__(message)
        self.reason = reason


class ResizeError(Exception):
    """New resources cannot be applied now. The text is for the Pod's status and for an event."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Selects a part of a container's log (v1.PodLogOptions)."""

    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since_seconds: int | None = None
    since_time: dt.datetime | None = None
    stream: str = "All"
    """All, Stdout or Stderr."""


class SandboxRuntime(Protocol):
    """Sandboxes: one for each Pod, with its network and all its containers."""

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        """Create the sandbox of a Pod unless it exists, and return the Pod's addresses.

        Returns no addresses if the Pod has only those of the node. Raises `SandboxError`.
        """
        ...

    def addresses(self, uid: str) -> Sequence[str]:
        """Return the addresses of a Pod as `run_sandbox` did; none for an unknown Pod."""
        ...

    async def stop_sandbox(self, uid: str) -> None:
        """Release the addresses of a Pod whose containers have all ended. Logs and records stay."""
        ...

    async def remove_sandbox(self, uid: str) -> None:
        """Remove a Pod with its containers, logs and records. Containers that still run are killed."""
        ...


class ContainerRuntime(Protocol):
    """Containers of a Pod, by name. Init containers and ephemeral containers are included."""

    def containers(self, uid: str) -> Mapping[str, ContainerRecord]:
        """Return the newest run of each container of a Pod; empty for an unknown Pod."""
        ...

    async def start_container(
        self, pod: Pod, container: Container, restart_count: int, config: ContainerConfig
    ) -> None:
        """Create and start the run `restart_count` of a container. Does nothing if that run, or a later one, exists.

        A container that cannot be started is recorded as ended (reason StartError, exit code 128). Raises `NotCreated`
        if there is not even a container to record.
        """
        ...

    async def stop_containers(self, pod: Pod, names: Sequence[str], grace_s: float) -> None:
        """Send containers their stop signal, and kill them after `grace_s`.

        Returns at once. The runtime reports each end when it happens. A repeated call may only shorten the grace
        period.
        """
        ...

    async def resize(self, pod: Pod, names: Sequence[str]) -> None:
        """Apply the resources of the Pod's spec to these running containers, and to the Pod as a whole.

        Idempotent. Raises `ResizeError`.
        """
        ...


class ImageRuntime(Protocol):
    """Images of a node. The agent applies the pull policy and the backoff."""

    async def find_image(self, pod: Pod, image: str) -> str:
        """Return the id of an image that the node has, or an empty string. Raises `ImageError`."""
        ...

    async def pull_image(self, pod: Pod, image: str) -> str:
        """Pull an image, and return its id. Raises `ImageError`."""
        ...


class StreamRuntime(Protocol):
    """Logs, commands and connections for clients."""

    def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """Yield the log of a container. Raises `LookupError` if there is no log."""
        ...

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> ContainerSession:
        """Start a process in a running container. Raises `LookupError`, `Unsupported`."""
        ...

    async def attach(self, pod: Pod, container: str, streams: Streams) -> ContainerSession:
        """Connect to the streams of a container's main process. Raises `LookupError`, `Unsupported`."""
        ...

    async def port_forward(self, pod: Pod, port: int) -> Connection:
        """Connect to a port of a Pod. Raises `OSError`, `LookupError`, `Unsupported`."""
        ...


class Runtime(SandboxRuntime, ContainerRuntime, ImageRuntime, StreamRuntime, Protocol):
    """Runs the Pods of one node."""

    @property
    def version(self) -> str:
        """Name and version, as the Node reports them: `containerd://2.1.0`."""
        ...

    @property
    def applies_resources(self) -> bool:
        """True if the runtime enforces requests and limits, so that the Pod's status reports them."""
        ...

    async def recover(self, pods: Sequence[Pod]) -> None:
        """Restore the state of the Pods that are bound to the node.

        The agent calls it before all other methods, and again if the agent takes the node over later.
        """
        ...

    async def usage(self, uid: str) -> Mapping[str, ContainerStats]:
        """Return the resource usage of a Pod's running containers by name; empty if it is unknown."""
        ...

    async def network_usage(self, uid: str) -> Sequence[InterfaceUsage]:
        """Return the traffic of a Pod's network interfaces, the default one first; empty if it is unknown."""
        ...
