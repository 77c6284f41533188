"""`ProcessRuntime`: containers that are processes of this machine.

Images are directories or the machine itself (`images.py`). With namespaces (`isolation.py`) a container sees only its
image, its volumes and its own processes. Its writes outside of volumes are lost at its end. Without namespaces it is
an ordinary process. Neither is a security boundary. The network and the Pods' addresses are those of the machine.

Concurrency: `run` is the parent of one task for each container. A Pod's containers are started one at a time. Starts
wait until `run` runs. When the thread of `run` ends, the kernel kills the containers; when `run` is cancelled, it stops
them.
Guarantees: a container is recorded on disk before its program runs. `recover` kills the processes that a killed agent
has left.
"""

import asyncio
import datetime as dt
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from sampan.core.time import Clock
from sampan.node.beneath import open_file
from sampan.node.pods.status_records import lost, status_records
from sampan.node.process.images import Image, Images
from sampan.node.process.isolation import Isolation, namespaces_work
from sampan.node.process.launch import Launcher, LaunchError
from sampan.node.process.logs.log_file import LogFile
from sampan.node.process.logs.log_reader import log_tail, read_log
from sampan.node.process.ports import connect
from sampan.node.process.proc import boot_id, process_stat
from sampan.node.process.process_sessions import AttachSession, ExecSession, FailedSession
from sampan.node.process.program import Desired, exec_program, message_file, program_of, signal_of
from sampan.node.process.recovery import recover
from sampan.node.process.running import RunningContainer
from sampan.node.process.state import StateDirectories, StoredContainer, StoredSandbox
from sampan.node.process.streams.stdio import open_stdio
from sampan.node.process.usage import UsageMeter
from sampan.node.runtime import ContainerRecord, ImageError, LogOptions
from sampan.node.sessions import Connection, ContainerConfig, ContainerSession, ContainerStats, InterfaceUsage, Streams
from sampan.node.tmpfs import TmpfsMounts
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod

NAME: Final = "process"
START_ERROR: Final = 128
_MESSAGE_BYTES_MAX: Final = 4096
_LOG_MESSAGE_BYTES_MAX: Final = 2048
_LOG_MESSAGE_LINES_MAX: Final = 80
_END_S: Final = 2.0
"""Time that containers have to end during the agent's shutdown."""

_log = logging.getLogger("sampan.node")


@dataclass(slots=True)
class _Slot:
    """State of the newest run of one container."""

    record: ContainerRecord
    config: ContainerConfig = field(default_factory=ContainerConfig)
    running: RunningContainer | None = None


@dataclass(slots=True)
class _Sandbox:
    """Sandbox of a Pod on this node."""

    stored: StoredSandbox
    slots: dict[str, _Slot] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def key(self) -> str:
        return f"{self.stored.namespace}/{self.stored.name}"


class ProcessRuntime:
    """Runtime of a node whose containers are processes."""

    def __init__(
        self,
        root: Path,
        *,
        images: Images,
        host_ip: str,
        clock: Clock,
        changed: Callable[[str], None],
        isolation: Isolation = "auto",
        memory: TmpfsMounts | None = None,
    ) -> None:
        """`root`: directory of this runtime alone. `changed` is called with the key of a Pod whose container has ended.

        `memory`: the tmpfs mounts below the root, which are unmounted when `run` ends.
        """
        self._root = root.absolute()
        self._memory = TmpfsMounts(root) if memory is None else memory
        self._state = StateDirectories(self._root)
        self._images = images
        self._host_ip = host_ip
        self._clock = clock
        self._changed = changed
        self._isolation: Isolation = isolation
        self._sandboxes: dict[str, _Sandbox] = {}
        self._meter = UsageMeter()
        self._launcher = Launcher(self._memory.source)
        self._group: asyncio.TaskGroup | None = None
        self._is_running = asyncio.Event()

    @property
    def version(self) -> str:
        """Name and a constant, because the runtime has no version."""
        return f"{NAME}://1.0.0"

    async def resize(self, pod: Pod, names: Sequence[str]) -> None:
        """Do nothing: the memory limit is an rlimit of processes that run, and CPU limits are not enforced."""

    @property
    def applies_resources(self) -> bool:
        """True: rlimits enforce the memory limit."""
        return True

    async def run(self) -> None:
        """Supervise containers until cancelled, then stop them all."""
        try:
            async with asyncio.TaskGroup() as self._group:
                if self._isolation == "auto":
                    works = await namespaces_work(self._launcher, self._root / "trial")
                    self._isolation = "namespaces" if works else "none"
                self._is_running.set()
                try:
                    await asyncio.get_running_loop().create_future()
                finally:
                    self._is_running.clear()
                    await self._stop_all()
        finally:
            self._memory.unmount_all()
            self._launcher.close()

    async def recover(self, pods: Sequence[Pod]) -> None:
        """Kill the processes that a killed agent has left, and read its records.

        Some containers are only in the Pod's status: another runtime ran them, or the directory was deleted. They count
        as terminated, so that the restart policy decides and restart counts continue.
        """
        now = self._clock.now()
        self._memory.reset()
        self._state.make_private()
        for stored, records in recover(self._state, (pod.metadata.uid for pod in pods), now):
            slots = {name: _Slot(record) for name, record in records.items()}
            self._sandboxes[stored.uid] = _Sandbox(stored, slots)
        for pod in pods:
            if pod.metadata.uid in self._sandboxes or pod.has_ended:
                continue
            for record in status_records(pod):
                sandbox, ended = self._sandbox(pod), lost(record, now)
                sandbox.slots[record.name] = _Slot(ended)
                self._store(sandbox, StoredContainer(ended))

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        """Return the address of the machine."""
        self._sandbox(pod)
        return (self._host_ip,)

    def addresses(self, uid: str) -> Sequence[str]:
        """Return the address of the machine."""
        return (self._host_ip,) if uid in self._sandboxes else ()

    async def find_image(self, pod: Pod, image: str) -> str:
        """Return the id of the image's directory; empty if there is none, or it cannot be read. Raises `ImageError`."""
        try:
            return self._images.find(image).id
        except ImageError as error:
            if error.reason == "ErrImagePull":
                return ""
            raise

    async def pull_image(self, pod: Pod, image: str) -> str:
        """Return the id of the image's directory. Raises `ImageError`, as there is no registry to pull from."""
        return self._images.find(image).id

    async def start_container(
        self, pod: Pod, container: Container, restart_count: int, config: ContainerConfig
    ) -> None:
        """Start the program of a container. When this returns, it runs or has ended."""
        sandbox = self._sandbox(pod)
        await self._is_running.wait()
        async with sandbox.lock:
            before = sandbox.slots.get(container.name)
            if before is not None and (before.running is not None or before.record.restart_count >= restart_count):
                return
            record = ContainerRecord(
                container.name,
                id=f"{NAME}://{pod.metadata.uid}/{container.name}/{restart_count}",
                image_id=f"{NAME}://{container.image}",
                restart_count=restart_count,
                started_at=self._clock.now(),
                previous=None if before is None else replace(before.record, previous=None),
            )
            slot = _Slot(record, config)
            try:
                image = self._images.find(container.image)
                slot.record = replace(record, image_id=f"{NAME}://{image.id}")
                slot.running = await self._start(sandbox, slot, image)
            except (LaunchError, ImageError, OSError, ValueError) as error:
                message = f"failed to start container: {error}"
                slot.record = _ended(slot.record, self._clock.now(), START_ERROR, "StartError", message)
                self._store(sandbox, StoredContainer(slot.record))
            sandbox.slots[container.name] = slot
            if slot.running is not None:
                self._spawn(self._supervise(sandbox, slot, slot.running))

    def containers(self, uid: str) -> Mapping[str, ContainerRecord]:
        """Return the containers by name."""
        sandbox = self._sandboxes.get(uid)
        return {} if sandbox is None else {name: slot.record for name, slot in sandbox.slots.items()}

    async def stop_containers(self, pod: Pod, names: Sequence[str], grace_s: float) -> None:
        """Send the stop signals, and kill the containers with all their descendants after `grace_s`."""
        sandbox = self._sandboxes.get(pod.metadata.uid)
        for name in names if sandbox is not None else ():
            slot = sandbox.slots.get(name) if sandbox is not None else None
            if slot is not None and slot.running is not None:
                number = signal_of(slot.config.stop_signal or slot.running.image.stop_signal)
                slot.running.stop(number, grace_s)

    async def stop_sandbox(self, uid: str) -> None:
        """Do nothing: a sandbox has no resources."""

    async def remove_sandbox(self, uid: str) -> None:
        """Kill all containers of a Pod, and delete its files and volumes."""
        sandbox = self._sandboxes.get(uid)
        if sandbox is None:
            return
        async with sandbox.lock:
            running = [slot.running for slot in sandbox.slots.values() if slot.running is not None]
            for each in running:
                each.kill()
            for each in running:
                await each.ended()
            await asyncio.to_thread(self._state.drop_sandbox, sandbox.stored)
            self._sandboxes.pop(uid, None)

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """Yield a container's log. Raises `LookupError`."""
        sandbox, slot = self._slot(pod, container)
        run = slot.record.restart_count
        writer = slot.running.log if slot.running is not None else None
        if options.previous:
            if slot.record.previous is None:
                message = f'previous terminated container "{container}" in pod "{pod.metadata.name}" not found'
                raise LookupError(message)
            run, writer = slot.record.previous.restart_count, None
        path = self._state.log_path(sandbox.stored, container, run)
        async for part in read_log(path, options, self._clock.now(), writer):
            yield part

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> ContainerSession:
        """Start a process with the container's namespaces, user, environment and working directory.

        Raises `LookupError`.
        """
        running = self._running(pod, container)
        program = exec_program(running.program, running.image, list(command), tty=streams.tty, pid=running.process.pid)
        stdio = open_stdio(streams)
        try:
            return ExecSession(await self._launcher.launch(program, stdio, lambda pid: None), stdio)
        except LaunchError as error:
            stdio.close()
            return FailedSession(str(error))
        except BaseException:
            stdio.close()
            raise

    async def attach(self, pod: Pod, container: str, streams: Streams) -> ContainerSession:
        """Return a session with the container's future output. Raises `LookupError`."""
        running = self._running(pod, container)
        config = self._slot(pod, container)[1].config
        return AttachSession(running, streams, closes_stdin=config.stdin_once and not config.tty)

    async def port_forward(self, pod: Pod, port: int) -> Connection:
        """Connect to a port of the machine. Raises `OSError`, `LookupError`."""
        if pod.metadata.uid not in self._sandboxes:
            raise LookupError(f'pod "{pod.metadata.name}" not found')
        return await connect(("127.0.0.1", self._host_ip), port)

    async def usage(self, uid: str) -> Mapping[str, ContainerStats]:
        """Return CPU time and resident memory of the Pod's running containers."""
        sandbox = self._sandboxes.get(uid)
        slots = {} if sandbox is None else sandbox.slots
        return self._meter.usage({name: each.running.process.pid for name, each in slots.items() if each.running})

    async def network_usage(self, uid: str) -> Sequence[InterfaceUsage]:
        """Return nothing: processes share the machine's network."""
        return ()

    # ---- one run

    async def _start(self, sandbox: _Sandbox, slot: _Slot, image: Image) -> RunningContainer:
        """Start the program of a new run. Raises `LaunchError`, `OSError`."""
        record, uid = slot.record, sandbox.stored.uid
        in_namespaces = self._isolation == "namespaces"
        mark = "" if in_namespaces else record.id
        directory = self._state.run_directory(uid, record.name, record.restart_count)
        directory.mkdir(parents=True, exist_ok=True)
        await asyncio.to_thread(self._state.drop_runs, sandbox.stored, record.name, record.restart_count)
        program = program_of(Desired(record.id, directory, image, slot.config, in_namespaces, str(self._root)))

        def recorded(pid: int) -> None:
            stat = process_stat(pid)
            start_ticks = stat.start_ticks if stat is not None else 0
            self._state.store_container(uid, StoredContainer(record, pid, start_ticks, boot_id(), mark))

        config = slot.config
        log = LogFile(self._state.log_path(sandbox.stored, record.name, record.restart_count), self._clock)
        stdio = open_stdio(Streams(stdin=config.stdin, tty=config.tty))
        try:
            process = await self._launcher.launch(program, stdio, recorded)
            if not self._is_running.is_set():
                process.kill_group()
                raise LaunchError("the node agent is shutting down")
        except BaseException:
            stdio.close()
            log.close()
            raise
        return RunningContainer(process, stdio, log, program=program, image=image)

    async def _supervise(self, sandbox: _Sandbox, slot: _Slot, running: RunningContainer) -> None:
        """Supervise a run, and record its end."""
        code = await running.supervise("" if running.program.view is not None else slot.record.id)
        reason = "Completed" if code == 0 else "Error"
        message = self._message(sandbox, slot, code)
        slot.record = _ended(slot.record, self._clock.now(), code, reason, message)
        slot.running = None
        self._meter.forget(running.process.pid)
        self._store(sandbox, StoredContainer(slot.record))
        self._changed(sandbox.key)

    def _message(self, sandbox: _Sandbox, slot: _Slot, code: int) -> str:
        """Return the container's termination message.

        Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_container.go `getTerminationMessage` (1.36).
        """
        record, data = slot.record, b""
        directory = self._state.run_directory(sandbox.stored.uid, record.name, record.restart_count)
        if slot.config.termination_message_path:
            with suppress(OSError), open_file(message_file(directory)) as file:
                data = file.read(_MESSAGE_BYTES_MAX)
        if not data and code != 0 and slot.config.termination_message_policy == "FallbackToLogsOnError":
            path = self._state.log_path(sandbox.stored, record.name, record.restart_count)
            data = log_tail(path, lines_max=_LOG_MESSAGE_LINES_MAX, bytes_max=_LOG_MESSAGE_BYTES_MAX)
        return data.decode(errors="replace")

    def _store(self, sandbox: _Sandbox, stored: StoredContainer) -> None:
        """Store an ended run. Without this record, the next agent reports the container as killed."""
        if sandbox.stored.uid not in self._sandboxes:
            return
        try:
            self._state.store_container(sandbox.stored.uid, stored)
        except OSError as error:
            _log.warning("cannot record the end of container %s: %s", stored.record.id, error)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        assert self._group is not None
        self._group.create_task(work)

    async def _stop_all(self) -> None:
        """Stop all containers during the agent's shutdown."""
        running = [each.running for one in self._sandboxes.values() for each in one.slots.values() if each.running]
        for each in running:
            each.stop(signal_of(each.image.stop_signal), _END_S)
        for each in running:
            await each.ended()

    # ---- what is known

    def _sandbox(self, pod: Pod) -> _Sandbox:
        sandbox = self._sandboxes.get(pod.metadata.uid)
        if sandbox is None:
            sandbox = self._sandboxes[pod.metadata.uid] = _Sandbox(self._state.store_sandbox(pod))
        return sandbox

    def _slot(self, pod: Pod, container: str) -> tuple[_Sandbox, _Slot]:
        sandbox = self._sandboxes.get(pod.metadata.uid)
        slot = sandbox.slots.get(container) if sandbox is not None else None
        if sandbox is None or slot is None:
            raise LookupError(f'container "{container}" not found in pod "{pod.metadata.name}"')
        return sandbox, slot

    def _running(self, pod: Pod, container: str) -> RunningContainer:
        running = self._slot(pod, container)[1].running
        if running is None or running.process.has_ended:
            raise LookupError(f'container "{container}" in pod "{pod.metadata.name}" is not running')
        return running


def _ended(record: ContainerRecord, at: dt.datetime, code: int, reason: str, message: str) -> ContainerRecord:
    return replace(record, ready=False, started=False, finished_at=at, exit_code=code, reason=reason, message=message)
