"""`CriObserver`: follows the sandboxes and containers of each Pod in the runtime, and the runtime's conditions.

Starts and stops update the memory (`pods.py`) at once. Everything else (a container ends, the runtime was restarted) is
detected by a list call each second, or by the runtime's events.

Concurrency: `run` owns the lists, the events, the checks of the runtime's status, the rotation of logs, the tasks of
`spawn`.
Source: kubelet pkg/kubelet/pleg/generic.go, pkg/kubelet/kuberuntime/kuberuntime_container.go (1.36).
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from sampan.core.time import Clock
from sampan.node.beneath import open_file
from sampan.node.cri.client import CriClient
from sampan.node.cri.configuration.container import CONTAINER_NAME, MESSAGE_PATH, MESSAGE_POLICY, message_file
from sampan.node.cri.configuration.sandbox import INSTANCE, POD_UID
from sampan.node.cri.container_log import rotate
from sampan.node.cri.errors import CriError
from sampan.node.cri.health import RuntimeHealth
from sampan.node.cri.log_files import LogFiles
from sampan.node.cri.messages import AnyMessage
from sampan.node.cri.pods import ContainerRun, CriPod, CriPods, merge_sandboxes
from sampan.node.cri.records import container_record
from sampan.node.process.logs.log_reader import log_tail
from sampan.node.runtime import ContainerRecord
from sampan.operator.request import RetryLater

RELIST_S: Final = 1.0
RELIST_WITH_EVENTS_S: Final = 10.0
STATUS_S: Final = 5.0
ROTATE_S: Final = 10.0
RETRY_S: Final = 1.0
_MESSAGE_BYTES_MAX: Final = 4096
_LOG_MESSAGE_BYTES_MAX: Final = 2048
_LOG_MESSAGE_LINES_MAX: Final = 80


class CriObserver:
    """In-memory state of a runtime's Pods, and the tasks that update it."""

    def __init__(
        self,
        client: CriClient,
        root: Path,
        log_files: LogFiles,
        *,
        clock: Clock,
        changed: Callable[[str], None],
    ) -> None:
        """`changed` is called with the key of a Pod whose containers or sandbox have changed.

        `root`: directory of the agent, for the files with termination messages.
        """
        self.health = RuntimeHealth(client.socket)
        self.pods = CriPods()
        self.changed = changed
        self._client = client
        self._root = root
        self._log_files = log_files
        self._clock = clock
        self._group: asyncio.TaskGroup | None = None
        self._is_running = asyncio.Event()
        self._wake = asyncio.Event()
        self._has_events = False

    async def wait_running(self) -> None:
        """Wait until the Pods of the runtime are in memory."""
        await self._is_running.wait()

    def spawn(self, work: Coroutine[None, None, None], name: str) -> asyncio.Task[None]:
        """Run work until it ends or the agent shuts down. Raises `RetryLater` during the shutdown."""
        if self._group is None:
            work.close()
            raise RetryLater("the node agent is shutting down")
        return self._group.create_task(work, name=name)

    # ---- tasks

    async def run(self) -> None:
        """Connect, and watch the runtime until cancelled. Containers keep running."""
        async with self._client, asyncio.TaskGroup() as group:
            self._group = group
            try:
                await self._connect()
                group.create_task(self._check_status(), name="status of the container runtime")
                # Before `_is_running` is set: a caller must not create what the runtime already has.
                await self._relist()
                self._is_running.set()
                group.create_task(self._follow_events(), name="events of the container runtime")
                group.create_task(self._rotate_logs(), name="rotation of logs")
                await self._relist_for_ever()
            finally:
                self._group = None
                self._is_running.clear()

    async def _connect(self) -> None:
        while True:
            try:
                self.health.connected(await self._client.version())
                self.health.reported(await self._client.status())
                return
            except CriError as error:
                self.health.failed(error)
                await asyncio.sleep(RETRY_S)

    async def _check_status(self) -> None:
        while True:
            await asyncio.sleep(STATUS_S if self.health.problem == "" else RETRY_S)
            await self.update_health()

    async def update_health(self) -> None:
        """Read the conditions of the runtime now."""
        try:
            self.health.reported(await self._client.status())
        except CriError as error:
            self.health.failed(error)

    async def _relist_for_ever(self) -> None:
        while True:
            # Events can be lost, so there is a list now and then even with them, as the kubelet's evented PLEG has.
            wait_s = RELIST_WITH_EVENTS_S if self._has_events else RELIST_S
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()
            # Before the list: an event during the list must cause another one.
            self._wake.clear()
            try:
                await self._relist()
            except CriError as error:
                self.health.failed(error)
                await asyncio.sleep(RETRY_S)

    async def _follow_events(self) -> None:
        """Relist after each event, so that the end of a container is noticed at once."""
        while True:
            try:
                self._has_events = True
                async for _ in self._client.container_events():
                    self._wake.set()
                self._has_events = False
            except CriError as error:
                self._has_events = False
                # Some runtimes have no events. The short period of lists replaces them.
                if error.is_unimplemented:
                    return
            await asyncio.sleep(STATUS_S)

    # ---- state of the runtime

    async def _relist(self) -> None:
        """Update the memory from lists of all sandboxes and containers."""
        began = asyncio.get_running_loop().time()
        sandboxes, containers = await asyncio.gather(self._client.list_pod_sandboxes(), self._client.list_containers())
        of_pod: dict[str, list[AnyMessage]] = {}
        for each in sandboxes:
            uid = each.labels.get(POD_UID, each.metadata.uid)
            pod = self.pods.add(uid, each.metadata.namespace, each.metadata.name)
            pod.instance = each.annotations.get(INSTANCE, pod.instance)
            of_pod.setdefault(uid, []).append(each)
        runs: dict[str, list[AnyMessage]] = {}
        for each in containers:
            runs.setdefault(each.labels.get(POD_UID, ""), []).append(each)
        for pod in self.pods:
            changed = merge_sandboxes(pod, of_pod.get(pod.uid, ()), began)
            changed |= await self._merge_runs(pod, runs.get(pod.uid, ()), began)
            if changed:
                pod.update()
                self.changed(pod.key)

    async def _merge_runs(self, pod: CriPod, listed: Iterable[AnyMessage], began: float) -> bool:
        found = {each.id: each for each in listed}
        # A container that was created after the list began is not in it, and is not gone.
        gone = [id for id, run in pod.runs.items() if id not in found and run.known_at < began]
        for id in gone:
            del pod.runs[id]
        # The status of each container is an extra call, so only changed states cause one.
        stale = [id for id, each in found.items() if id not in pod.runs or pod.runs[id].state != each.state]
        for id in stale:
            await self.refresh(pod, id)
        return bool(gone or stale)

    async def refresh(self, pod: CriPod, id: str) -> ContainerRun | None:
        """Read the status of one container into the memory. Return None if the runtime no longer has it."""
        try:
            status = await self._client.container_status(id)
        except CriError as error:
            if not error.is_not_found:
                raise
            pod.runs.pop(id, None)
            pod.update()
            return None
        name = status.labels.get(CONTAINER_NAME, status.metadata.name)
        record = container_record(self.health.name, status)
        if record is not None and not record.is_running:
            # In a thread: the log may be large, and the disk slow.
            text = await asyncio.to_thread(self._termination_message, pod, record, dict(status.annotations))
            record = replace(record, message=text or record.message)
        now = asyncio.get_running_loop().time()
        run = ContainerRun(id, name, status.metadata.attempt, status.state, record, now, dict(status.annotations))
        pod.runs[id] = run
        pod.update()
        return run

    def _termination_message(self, pod: CriPod, record: ContainerRecord, annotations: Mapping[str, str]) -> str:
        """Return the termination message that the container wrote to its file or, by policy, the end of its log."""
        data = b""
        if annotations.get(MESSAGE_PATH):
            path = message_file(self._root, pod.uid, record.name, record.restart_count)
            with contextlib.suppress(OSError), open_file(path) as file:
                data = file.read(_MESSAGE_BYTES_MAX)
        wants_log = record.exit_code != 0 and annotations.get(MESSAGE_POLICY) == "FallbackToLogsOnError"
        if not data and wants_log:
            path = self._log_files.file(pod, record.name, record.restart_count)
            data = log_tail(path, lines_max=_LOG_MESSAGE_LINES_MAX, bytes_max=_LOG_MESSAGE_BYTES_MAX)
        return data.decode(errors="replace")

    # ---- logs

    async def _rotate_logs(self) -> None:
        while True:
            await asyncio.sleep(ROTATE_S)
            for known in self.pods:
                for run in list(known.runs.values()):
                    if run.record is not None and run.record.is_running:
                        path = self._log_files.file(known, run.name, run.record.restart_count)
                        # The runtime has the old file open, and writes to it until a call makes it reopen.
                        if await asyncio.to_thread(rotate, path, self._clock.now()):
                            with contextlib.suppress(CriError):
                                await self._client.reopen_container_log(run.id)
