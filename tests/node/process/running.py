"""Process runtime in a temporary directory, and Pods for it."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from sampan.core.time import SystemClock
from sampan.node.process import Images, Isolation, ProcessRuntime
from sampan.node.process.isolation import namespaces_work
from sampan.node.process.launch import Launcher
from sampan.node.runtime import ContainerRecord, LogOptions
from sampan.node.sessions import ContainerConfig, ContainerSession, Mount
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod, PodSpec
from sampan.resource import ObjectMeta

MAIN = Container("main", "app:1")


class Node:
    """Running runtime, with the changes that it has reported."""

    def __init__(self, root: Path, isolation: Isolation, images: Mapping[str, str]) -> None:
        self.root = root
        self.changed_keys: list[str] = []
        self._changed = asyncio.Event()
        self.runtime = ProcessRuntime(
            root,
            images=Images(images),
            host_ip="127.0.0.1",
            clock=SystemClock(),
            changed=self._on_change,
            isolation=isolation,
        )

    def _on_change(self, key: str) -> None:
        self.changed_keys.append(key)
        self._changed.set()

    async def start(self, pod: Pod, *command: str, run: int = 0, **config: Any) -> None:
        """Start the Pod's container."""
        await self.runtime.run_sandbox(pod)
        await self.runtime.start_container(pod, MAIN, run, ContainerConfig(command=command, **config))

    def record(self, pod: Pod) -> ContainerRecord:
        """Return the record of the Pod's container."""
        return self.runtime.containers(pod.metadata.uid)[MAIN.name]

    async def end(self, pod: Pod) -> ContainerRecord:
        """Wait until the container has ended, and return its record."""
        while self.record(pod).is_running:
            self._changed.clear()
            await self._changed.wait()
        return self.record(pod)

    async def log(self, pod: Pod, **options: Any) -> bytes:
        """Return the whole log."""
        return b"".join([part async for part in self.runtime.logs(pod, MAIN.name, LogOptions(**options))])

    async def run(self, pod: Pod, *command: str, **config: Any) -> tuple[int, bytes]:
        """Run a command to its end. Returns its exit code and its output."""
        await self.start(pod, *command, **config)
        return (await self.end(pod)).exit_code, await self.log(pod)

    async def wait_for_output(self, pod: Pod, text: bytes) -> None:
        """Wait until the container has written a text."""
        log = b""
        async for part in self.runtime.logs(pod, MAIN.name, LogOptions(follow=True)):
            log += part
            if text in log:
                return
        raise AssertionError(f"it ended without {text!r}: {log!r}")


@asynccontextmanager
async def node(
    root: Path, isolation: Isolation = "none", images: Mapping[str, str] | None = None
) -> AsyncIterator[Node]:
    """Run a node."""
    found = Node(root, isolation, images or {})
    task = asyncio.create_task(found.runtime.run())
    try:
        yield found
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def has_namespaces(directory: Path) -> bool:
    """Return whether containers can have their own namespaces here."""
    launcher = Launcher()
    try:
        return await namespaces_work(launcher, directory)
    finally:
        launcher.close()


def pod(name: str = "web") -> Pod:
    """Return a Pod with one container."""
    return Pod(ObjectMeta(name=name, namespace="default", uid=f"uid-of-{name}"), PodSpec(containers=[MAIN]))


async def output(session: ContainerSession) -> tuple[bytes, bytes, int]:
    """Return the whole output of a session, and its exit code."""

    async def all_of(read: Any) -> bytes:
        parts = []
        while part := await read():
            parts.append(part)
        return b"".join(parts)

    async with asyncio.TaskGroup() as group:
        stdout = group.create_task(all_of(session.read_stdout))
        stderr = group.create_task(all_of(session.read_stderr))
        code = group.create_task(session.wait())
    return stdout.result(), stderr.result(), code.result()


def sh(script: str) -> Sequence[str]:
    """Return a shell command."""
    return ("/bin/sh", "-c", script)


def host_programs() -> list[Mount]:
    """Return volumes with the machine's own programs, for an image without any."""
    return [Mount(path, path, path, read_only=True) for path in ("/usr", "/lib", "/lib64") if Path(path).exists()]
