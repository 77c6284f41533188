"""Runtime whose containers run until the test ends them, in virtual time, and Pods for it."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from sampan.node.environment.fields import PodPlace
from sampan.node.runtime import ContainerRecord, ImageError, LogOptions, ResizeError
from sampan.node.sessions import (
    Connection,
    ContainerConfig,
    ContainerSession,
    ContainerStats,
    InterfaceUsage,
    Streams,
    Unsupported,
)
from sampan.node.tasks import Tasks
from sampan.node.views.container import Container
from sampan.node.views.pod import NODE_POD_VIEW, Pod

EPOCH = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


class LoopClock:
    """Clock that shows the loop's time."""

    def now(self) -> dt.datetime:
        """Return the start of 2026 plus the loop's time."""
        return EPOCH + dt.timedelta(seconds=asyncio.get_running_loop().time())


@dataclass(slots=True)
class RecordedEvents:
    """Recorded events: type, reason, note, container."""

    recorded: list[tuple[str, str, str, str]] = field(default_factory=list)

    def normal(self, pod: Pod, reason: str, note: str, container: str = "") -> None:
        self.recorded.append(("Normal", reason, note, container))

    def warning(self, pod: Pod, reason: str, note: str, container: str = "") -> None:
        self.recorded.append(("Warning", reason, note, container))

    def reasons(self) -> list[str]:
        return [reason for _, reason, _, _ in self.recorded]


class CommandSession:
    """Command that ends after a while."""

    def __init__(self, code: int, after_s: float, output: bytes) -> None:
        self._code, self._after_s, self._output = code, after_s, output
        self.closed = False

    async def write_stdin(self, data: bytes) -> None: ...

    async def close_stdin(self) -> None: ...

    async def read_stdout(self) -> bytes:
        output, self._output = self._output, b""
        return output

    async def read_stderr(self) -> bytes:
        return b""

    def resize(self, columns: int, rows: int) -> None: ...

    async def wait(self) -> int:
        await asyncio.sleep(self._after_s)
        return self._code

    async def close(self) -> None:
        self.closed = True


class ScriptedRuntime:
    """Containers end when the test ends them, or `stop_after_s` after they are stopped."""

    def __init__(self, changed: Callable[[str], None] = lambda key: None) -> None:
        self.changed = changed
        self.records: dict[str, dict[str, ContainerRecord]] = {}
        self.configs: dict[str, ContainerConfig] = {}
        self.started: list[str] = []
        self.stops: list[tuple[float, str, float]] = []
        """Time, container, grace period."""
        self.stop_after_s: dict[str, float] = {}
        self.commands: list[tuple[float, str]] = []
        self.command: Callable[[str, Sequence[str]], CommandSession] = lambda name, command: CommandSession(0, 0, b"")
        self.missing_images: dict[str, str] = {}
        self.removed: list[str] = []
        self.resized: list[tuple[str, ...]] = []
        self.resize_error = ""

    @property
    def version(self) -> str:
        return "scripted://1"

    @property
    def applies_resources(self) -> bool:
        return True

    async def recover(self, pods: Sequence[Pod]) -> None: ...

    async def resize(self, pod: Pod, names: Sequence[str]) -> None:
        if self.resize_error:
            raise ResizeError(self.resize_error)
        self.resized.append(tuple(names))

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        return ["127.0.0.1"]

    def addresses(self, uid: str) -> Sequence[str]:
        return ["127.0.0.1"]

    async def find_image(self, pod: Pod, image: str) -> str:
        return "" if image in self.missing_images else image

    async def pull_image(self, pod: Pod, image: str) -> str:
        reason = self.missing_images.get(image)
        if reason is not None:
            raise ImageError(reason, f"{image} is not there")
        return image

    async def start_container(
        self, pod: Pod, container: Container, restart_count: int, config: ContainerConfig
    ) -> None:
        self.configs[container.name] = config
        self.started.append(container.name)
        self.run(pod, container.name, restart_count)

    def run(self, pod: Pod, name: str, restart_count: int = 0) -> ContainerRecord:
        """Start a container."""
        records = self.records.setdefault(pod.metadata.uid, {})
        now = LoopClock().now()
        records[name] = ContainerRecord(name, f"scripted://{name}/{restart_count}", "image", restart_count, now)
        return records[name]

    def containers(self, uid: str) -> Mapping[str, ContainerRecord]:
        return self.records.get(uid, {})

    async def stop_containers(self, pod: Pod, names: Sequence[str], grace_s: float) -> None:
        loop = asyncio.get_running_loop()
        for name in names:
            self.stops.append((loop.time(), name, grace_s))
            loop.call_later(min(grace_s, self.stop_after_s.get(name, 0.0)), self.end, pod, name, 143)

    def end(self, pod: Pod, name: str, code: int) -> None:
        """End a container."""
        records = self.records[pod.metadata.uid]
        if records[name].is_running:
            reason = "Error" if code else "Completed"
            records[name] = replace(records[name], finished_at=LoopClock().now(), exit_code=code, reason=reason)
            self.changed(pod.key)

    async def stop_sandbox(self, uid: str) -> None: ...

    async def remove_sandbox(self, uid: str) -> None:
        self.records.pop(uid, None)
        self.removed.append(uid)

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        yield b""

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> ContainerSession:
        self.commands.append((asyncio.get_running_loop().time(), " ".join(command)))
        return self.command(container, command)

    async def attach(self, pod: Pod, container: str, streams: Streams) -> ContainerSession:
        raise Unsupported("no")

    async def port_forward(self, pod: Pod, port: int) -> Connection:
        raise Unsupported("no")

    async def usage(self, uid: str) -> Mapping[str, ContainerStats]:
        return {}

    async def network_usage(self, uid: str) -> Sequence[InterfaceUsage]:
        return ()


def detailed(*containers: dict[str, Any], metadata: dict[str, Any] | None = None, **spec: Any) -> Pod:
    """Return a Pod. Each container is called `main` by default."""
    found = [{"name": "main", "image": "app:1", **each} for each in containers or ({},)]
    pod = {
        "metadata": {"name": "web", "namespace": "default", "uid": "uid-1", **(metadata or {})},
        "spec": {"nodeName": "node", "containers": found, **spec},
        "status": {},
    }
    return NODE_POD_VIEW.decode(orjson.dumps(pod))


def place_of(pod: Pod) -> PodPlace:
    """Return the Pod on its node."""
    return PodPlace(pod, ("192.168.0.1",), ("10.0.0.1",), {"cpu": "8", "memory": "1Gi"})


@asynccontextmanager
async def tasks_running() -> AsyncIterator[Tasks]:
    """Run the tasks of an agent."""
    tasks = Tasks()
    running = asyncio.create_task(tasks.run())
    await tasks.running()
    try:
        yield tasks
    finally:
        running.cancel()
        await asyncio.wait({running})
