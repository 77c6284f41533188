"""`CriStreams`: logs, commands and connections of a runtime with CRI.

Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_container.go (1.36).
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from sampan.core.time import Clock
from sampan.node.cri.client import CriClient
from sampan.node.cri.container_log import FollowedLog
from sampan.node.cri.errors import CriError
from sampan.node.cri.log_files import LogFiles
from sampan.node.cri.pods import ContainerRun, CriPod, CriPods
from sampan.node.cri.streams.sandbox_port import connect_in, network_namespace
from sampan.node.cri.streams.streaming import open_session
from sampan.node.process.logs.log_reader import read_log
from sampan.node.runtime import ContainerRecord, LogOptions
from sampan.node.sessions import Connection, ContainerSession, Streams
from sampan.node.views.pod import Pod


class CriStreams:
    """Connects clients to containers. It only reads the memory of Pods."""

    def __init__(self, client: CriClient, pods: CriPods, log_files: LogFiles, clock: Clock) -> None:
        self._client = client
        self._pods = pods
        self._log_files = log_files
        self._clock = clock

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """Yield a container's log. Raises `LookupError`."""
        known, record = self._record(pod, container)
        if options.previous:
            if record.previous is None:
                message = f'previous terminated container "{container}" in pod "{pod.metadata.name}" not found'
                raise LookupError(message)
            record = record.previous
        id = record.id
        path = self._log_files.file(known, container, record.restart_count)

        def is_over() -> bool:
            now = known.records.get(container)
            return now is None or now.id != id or not now.is_running

        async for part in read_log(path, options, self._clock.now(), FollowedLog(path, is_over)):
            yield part

    async def run_command(self, pod: Pod, container: str, command: Sequence[str]) -> tuple[int, bytes]:
        """Run a command until it ends. Raises `LookupError`, `OSError`."""
        run = self._running(pod, container)
        try:
            done = await self._client.exec_sync(run.id, command)
        except CriError as error:
            raise OSError(str(error)) from error
        return done.exit_code, done.stdout + done.stderr

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> ContainerSession:
        """Start a process in a container, and connect to its streams. Raises `LookupError`, `OSError`."""
        run = self._running(pod, container)
        try:
            url = await self._client.exec_url(run.id, command, streams)
        except CriError as error:
            raise OSError(str(error)) from error
        return await open_session(url, streams)

    async def attach(self, pod: Pod, container: str, streams: Streams) -> ContainerSession:
        """Connect to the streams of a container. Raises `LookupError`, `OSError`.

        The container determines whether it has a terminal, not the client: a client without one, such as kubectl in
        CI, receives the terminal's output as stdout. The end of its input does not end a terminal's input.
        Source: kubelet pkg/kubelet/kubelet_pods.go GetAttach (1.36).
        """
        run = self._running(pod, container)
        streams = replace(streams, tty=pod.spec.container(container).tty)
        try:
            url = await self._client.attach_url(run.id, streams)
        except CriError as error:
            raise OSError(str(error)) from error
        return await open_session(url, streams, ends_stdin=not streams.tty)

    async def port_forward(self, pod: Pod, port: int) -> Connection:
        """Connect to a port in the Pod's network namespace. Raises `OSError`, `LookupError`."""
        known = self._pods.get(pod.metadata.uid)
        sandbox = known.newest if known is not None else None
        if sandbox is None or not sandbox.is_ready:
            raise LookupError(f'pod "{pod.metadata.name}" does not run')
        if pod.spec.host_network:
            return await connect_in("", port)
        try:
            namespace = network_namespace(await self._client.pod_sandbox_info(sandbox.id))
        except CriError as error:
            raise OSError(str(error)) from error
        if not namespace:
            raise OSError("the container runtime does not report the pod's network namespace")
        return await connect_in(namespace, port)

    def _record(self, pod: Pod, container: str) -> tuple[CriPod, ContainerRecord]:
        known = self._pods.get(pod.metadata.uid)
        record = known.records.get(container) if known is not None else None
        if known is None or record is None:
            raise LookupError(f'container "{container}" not found in pod "{pod.metadata.name}"')
        return known, record

    def _running(self, pod: Pod, container: str) -> ContainerRun:
        known, _ = self._record(pod, container)
        run = known.run_named(container)
        if run is None:
            raise LookupError(f'container "{container}" in pod "{pod.metadata.name}" is not running')
        return run
