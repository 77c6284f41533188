"""Runtime of processes, pipes and ports of the test's machine."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Mapping, Sequence

from sampan.node.runtime import ContainerRecord, LogOptions
from sampan.node.server.hosted import HostedPod
from sampan.node.sessions import (
    Connection,
    ContainerConfig,
    ContainerSession,
    ContainerStats,
    InterfaceUsage,
    Streams,
    Unsupported,
)
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod, PodSpec
from sampan.resource import ObjectMeta

MEASURED_S = 1767323100.25
STARTED = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
POD = Pod(
    ObjectMeta(namespace="default", name="web", uid="u-1"),
    PodSpec(containers=[Container("main", "host"), Container("waiting", "host")]),
    {"containerStatuses": [{"name": "waiting", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]},
)


class ProcessSession:
    """Process of this machine."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.sizes: list[tuple[int, int]] = []
        self.resized = asyncio.Event()
        self.closed = asyncio.Event()
        self.stdout_bytes = 0

    async def write_stdin(self, data: bytes) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(data)
            await self.process.stdin.drain()
        except OSError:
            pass

    async def close_stdin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def read_stdout(self) -> bytes:
        assert self.process.stdout is not None
        data = await self.process.stdout.read(65_536)
        self.stdout_bytes += len(data)
        return data

    async def read_stderr(self) -> bytes:
        assert self.process.stderr is not None
        return await self.process.stderr.read(65_536)

    def resize(self, columns: int, rows: int) -> None:
        self.sizes.append((columns, rows))
        self.resized.set()

    async def wait(self) -> int:
        return await self.process.wait()

    async def close(self) -> None:
        if self.process.stdin is not None and self.process.stdin.transport.get_write_buffer_size():
            self.process.stdin.transport.abort()
        # This kills the process and closes its pipes; unread output would keep them open.
        self.process._transport.close()  # type: ignore[attr-defined]  # there is no public way
        await self.process.wait()
        self.closed.set()


class FakeRuntime:
    """Runtime with one running container, `main`."""

    version = "fake://1"
    applies_resources = False

    async def resize(self, pod: Pod, names: Sequence[str]) -> None: ...

    def __init__(self) -> None:
        self.sessions: asyncio.Queue[ProcessSession] = asyncio.Queue()
        self.requests: list[tuple[Sequence[str], Streams]] = []
        self.unsupported = False
        self.log: list[bytes | asyncio.Event] = [b"one\n", b"two\n"]
        self.log_options = LogOptions()
        self.log_closed = asyncio.Event()
        self.ports: dict[int, int] = {}

    async def recover(self, pods: Sequence[Pod]) -> None: ...

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        return ()

    def addresses(self, uid: str) -> Sequence[str]:
        return ()

    async def find_image(self, pod: Pod, image: str) -> str:
        return image

    async def pull_image(self, pod: Pod, image: str) -> str:
        return image

    async def start_container(
        self, pod: Pod, container: Container, restart_count: int, config: ContainerConfig
    ) -> None: ...

    def containers(self, uid: str) -> Mapping[str, ContainerRecord]:
        assert uid == POD.metadata.uid
        return {"main": ContainerRecord("main", "fake://1", "", 0, STARTED)}

    async def stop_containers(self, pod: Pod, names: Sequence[str], grace_s: float) -> None: ...

    async def stop_sandbox(self, uid: str) -> None: ...

    async def remove_sandbox(self, uid: str) -> None: ...

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        self.log_options = options
        try:
            for part in self.log:
                if isinstance(part, bytes):
                    yield part
                else:
                    await part.wait()
        finally:
            self.log_closed.set()

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> ContainerSession:
        self.requests.append((command, streams))
        if self.unsupported:
            raise Unsupported("nothing runs here")
        pipe, null = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=pipe if streams.stdin else null,
            stdout=pipe if streams.stdout else null,
            stderr=pipe if streams.stderr else null,
        )
        session = ProcessSession(process)
        self.sessions.put_nowait(session)
        return session

    async def attach(self, pod: Pod, container: str, streams: Streams) -> ContainerSession:
        return await self.exec(pod, container, ["cat"], streams)

    async def port_forward(self, pod: Pod, port: int) -> Connection:
        if port not in self.ports:
            raise ConnectionRefusedError("connection refused")
        return await asyncio.open_connection("127.0.0.1", self.ports[port])

    async def usage(self, uid: str) -> Mapping[str, ContainerStats]:
        return {"main": ContainerStats(1.5, 4096, rss_bytes=2048, total_memory_bytes=8192, measured_s=MEASURED_S)}

    async def network_usage(self, uid: str) -> Sequence[InterfaceUsage]:
        return (InterfaceUsage("eth0", 1000, 1, 500, 0),)


def hosted(runtime: FakeRuntime) -> list[HostedPod]:
    """Return the only Pod."""
    return [HostedPod(POD, runtime, b'{"metadata":{"name":"web"}}')]
