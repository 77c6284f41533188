"""`CriRuntime`: containers of a runtime with CRI, such as containerd.

`pods.py` has the memory that `containers` answers from. Starts and stops update it at once. Everything else (a
container ends, the runtime was restarted) is found by a list each second, or by the runtime's events.

Concurrency: `run` owns the lists, the events, the checks of the runtime's status, and a task for each container that is
being stopped. The lock of a Pod serializes what creates and removes its sandboxes and containers.
Guarantees: the end of the agent or of the runtime's process ends no container. `recover` adopts by labels what runs.
Source: kubelet pkg/kubelet/kuberuntime, pkg/kubelet/pleg/generic.go (1.36).
"""

import asyncio
import contextlib
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Final

from sampan.core.resource_amounts import amounts
from sampan.core.time import Clock
from sampan.node.container_view import Container
from sampan.node.cri.cgroups import PodCgroups
from sampan.node.cri.client import CriClient
from sampan.node.cri.container_config import (
    CONTAINER_NAME,
    MESSAGE_PATH,
    MESSAGE_POLICY,
    Start,
    container_config,
    hosts_file,
    log_path,
    message_file,
    pod_directory,
)
from sampan.node.cri.container_log import FollowedLog, rotate
from sampan.node.cri.errors import CriError
from sampan.node.cri.health import RuntimeHealth
from sampan.node.cri.hosts import fully_qualified, hosts_content
from sampan.node.cri.messages import AnyMessage
from sampan.node.cri.pods import CriPod, CriPods, Run, Sandbox, merge_sandboxes
from sampan.node.cri.pull import Credentials, NoCredentials
from sampan.node.cri.records import container_record
from sampan.node.cri.resolver import ClusterDns, dns_message, node_resolver, pod_resolver
from sampan.node.cri.resources import linux_resources, oom_score
from sampan.node.cri.sandbox_config import INSTANCE, POD_UID, SandboxPlace, cgroup_parent, sandbox_config
from sampan.node.cri.sandbox_port import connect_in, network_namespace
from sampan.node.cri.streaming import open_session
from sampan.node.environment.fields import PodPlace
from sampan.node.image_name import check_image_name
from sampan.node.process.log_reader import log_tail, read_log
from sampan.node.runtime import ContainerRecord, ImageError, LogOptions, NotCreated, SandboxError
from sampan.node.sessions import Connection, ContainerConfig, Session, Streams, Usage
from sampan.node.status_records import lost, status_records
from sampan.node.tmpfs import unmount_below
from sampan.node.views import Pod
from sampan.operator.request import RetryLater

RELIST_S: Final = 1.0
RELIST_WITH_EVENTS_S: Final = 10.0
STATUS_S: Final = 5.0
ROTATE_S: Final = 10.0
_RETRY_S: Final = 1.0
_NETWORK_RETRY_S: Final = 0.5
_STATS_S: Final = 1.0
_MESSAGE_BYTES_MAX: Final = 4096
_LOG_MESSAGE_BYTES_MAX: Final = 2048
_LOG_MESSAGE_LINES_MAX: Final = 80
_log = logging.getLogger("sampan.node")


@dataclass(frozen=True, slots=True)
class CriSettings:
    """Settings of a node with a CRI runtime."""

    root: Path
    """Directory of the agent."""
    host_ip: str
    logs: PurePosixPath
    """Directory of the logs of all Pods."""
    instance: str = ""
    """Id of the agent, which only removes the Pods that it has made itself."""
    cgroup_root: str = "/"
    memory_bytes: int = 0
    """Memory of the node."""


class CriRuntime:
    """Runtime of a node with containerd, CRI-O or similar."""

    def __init__(
        self,
        client: CriClient,
        settings: CriSettings,
        *,
        clock: Clock,
        changed: Callable[[str], None],
        dns: Callable[[], ClusterDns] = ClusterDns,
        credentials: Credentials | None = None,
        report: Callable[[Pod, str, str], None] = lambda pod, reason, text: None,
    ) -> None:
        """`changed` is called with the key of a Pod whose containers or sandbox have changed.

        `dns` returns the cluster's DNS as it is now. `report` writes a warning as an event of a Pod.
        """
        self.health = RuntimeHealth(client.socket)
        self._client = client
        self._settings = replace(settings, root=settings.root.absolute())
        self._clock = clock
        self._changed = changed
        self._dns = dns
        self._credentials: Credentials = credentials or NoCredentials()
        self._report = report
        self._cgroups = PodCgroups()
        self._pods = CriPods()
        self._group: asyncio.TaskGroup | None = None
        self._is_running = asyncio.Event()
        self._wake = asyncio.Event()
        self._has_events = False
        self._stats: tuple[float, dict[str, dict[str, Usage]]] = (0.0, {})

    @property
    def version(self) -> str:
        """Name and version of the runtime; without a version before it is connected."""
        return self.health.version

    @property
    def applies_resources(self) -> bool:
        """Requests and limits are cgroups'."""
        return True

    # ---- tasks

    async def run(self) -> None:
        """Connect, and watch the runtime until cancelled. Containers keep running."""
        async with self._client, asyncio.TaskGroup() as group:
            self._group = group
            try:
                await self._connect()
                group.create_task(self._check_status(), name="status of the container runtime")
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
                await asyncio.sleep(_RETRY_S)

    async def _check_status(self) -> None:
        while True:
            await asyncio.sleep(STATUS_S if self.health.problem == "" else _RETRY_S)
            await self._update_health()

    async def _update_health(self) -> None:
        try:
            self.health.reported(await self._client.status())
        except CriError as error:
            self.health.failed(error)

    async def _relist_for_ever(self) -> None:
        while True:
            wait_s = RELIST_WITH_EVENTS_S if self._has_events else RELIST_S
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()
            self._wake.clear()
            try:
                await self._relist()
            except CriError as error:
                self.health.failed(error)
                await asyncio.sleep(_RETRY_S)

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
                if error.is_unimplemented:
                    return
            await asyncio.sleep(STATUS_S)

    # ---- what the runtime has

    async def _relist(self) -> None:
        """Update the memory from lists of all sandboxes and containers."""
        began = asyncio.get_running_loop().time()
        sandboxes, containers = await asyncio.gather(self._client.list_pod_sandboxes(), self._client.list_containers())
        of_pod: dict[str, list[AnyMessage]] = {}
        for each in sandboxes:
            uid = each.labels.get(POD_UID, each.metadata.uid)
            pod = self._pods.add(uid, each.metadata.namespace, each.metadata.name)
            pod.instance = each.annotations.get(INSTANCE, pod.instance)
            of_pod.setdefault(uid, []).append(each)
        runs: dict[str, list[AnyMessage]] = {}
        for each in containers:
            runs.setdefault(each.labels.get(POD_UID, ""), []).append(each)
        for pod in self._pods:
            changed = merge_sandboxes(pod, of_pod.get(pod.uid, ()), began)
            changed |= await self._merge_runs(pod, runs.get(pod.uid, ()), began)
            if changed:
                pod.update()
                self._changed(pod.key)

    async def _merge_runs(self, pod: CriPod, listed: Iterable[AnyMessage], began: float) -> bool:
        found = {each.id: each for each in listed}
        gone = [id for id, run in pod.runs.items() if id not in found and run.known_at < began]
        for id in gone:
            del pod.runs[id]
        stale = [id for id, each in found.items() if id not in pod.runs or pod.runs[id].state != each.state]
        for id in stale:
            await self._refresh(pod, id)
        return bool(gone or stale)

    async def _refresh(self, pod: CriPod, id: str) -> Run | None:
        """Read the status of one container."""
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
            text = await asyncio.to_thread(self._termination_message, pod, record, dict(status.annotations))
            record = replace(record, message=text or record.message)
        now = asyncio.get_running_loop().time()
        run = Run(id, name, status.metadata.attempt, status.state, record, now, dict(status.annotations))
        pod.runs[id] = run
        pod.update()
        return run

    def _termination_message(self, pod: CriPod, record: ContainerRecord, annotations: Mapping[str, str]) -> str:
        """Return what the container has written as the reason of its end."""
        data = b""
        if annotations.get(MESSAGE_PATH):
            path = message_file(self._settings.root, pod.uid, record.name, record.restart_count)
            with contextlib.suppress(OSError), path.open("rb") as file:
                data = file.read(_MESSAGE_BYTES_MAX)
        wants_log = record.exit_code != 0 and annotations.get(MESSAGE_POLICY) == "FallbackToLogsOnError"
        if not data and wants_log:
            path = self._log_file(pod, record.name, record.restart_count)
            data = log_tail(path, lines_max=_LOG_MESSAGE_LINES_MAX, bytes_max=_LOG_MESSAGE_BYTES_MAX)
        return data.decode(errors="replace")

    # ---- recovery

    async def recover(self, pods: Sequence[Pod]) -> None:
        """Adopt what runs, and remove the Pods that this agent has made and that are gone from the API server."""
        await self._is_running.wait()
        now, wanted = self._clock.now(), {pod.metadata.uid for pod in pods}
        for pod in pods:
            known = self._pods.add(pod.metadata.uid, pod.metadata.namespace, pod.metadata.name)
            known.cgroup = cgroup_parent(pod, self._settings.cgroup_root)
            if not pod.has_ended:
                recorded = (lost(record, now) for record in status_records(pod))
                known.lost = {record.name: record for record in recorded if record.name not in known.records}
            await self._adopt(known)
            known.update()
        for known in self._pods:
            if known.uid not in wanted and known.instance == self._settings.instance:
                self._spawn(self._remove_orphan(known), f"removal of {known.key}")
        await asyncio.to_thread(self._drop_directories, wanted | {pod.uid for pod in self._pods})

    async def _adopt(self, pod: CriPod) -> None:
        """Read the addresses of a running sandbox, and remove containers that were created but never started."""
        newest = pod.newest
        if newest is not None and newest.is_ready:
            with contextlib.suppress(CriError):
                pod.addresses = _addresses(await self._client.pod_sandbox_status(newest.id))
        for run in [run for run in pod.runs.values() if run.record is None]:
            await self._remove_run(pod, run)

    async def _remove_orphan(self, pod: CriPod) -> None:
        _log.info("removing a pod that is gone from the API server", extra={"pod": pod.key, "uid": pod.uid})
        while True:
            try:
                await self.remove_sandbox(pod.uid)
                return
            except CriError as error:
                _log.warning("cannot remove pod %s, retrying: %s", pod.key, error)
                await asyncio.sleep(STATUS_S)

    def _drop_directories(self, wanted: set[str]) -> None:
        """Remove the files of Pods of which neither the API server nor the runtime has anything."""
        pods = self._settings.root / "pods"
        for directory in pods.iterdir() if pods.is_dir() else ():
            if directory.name not in wanted:
                unmount_below(directory)
                shutil.rmtree(directory, ignore_errors=True)

    # ---- sandboxes

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        """Return the addresses of the Pod's sandbox, which is created unless a good one exists."""
        await self._is_running.wait()
        metadata = pod.metadata
        known = self._pods.add(metadata.uid, metadata.namespace, metadata.name)
        known.cgroup = known.cgroup or cgroup_parent(pod, self._settings.cgroup_root)
        async with known.lock:
            newest = known.newest
            has_network = bool(known.addresses) or pod.spec.host_network
            if metadata.deletion_timestamp is not None or (newest is not None and newest.is_ready and has_network):
                return known.addresses
            try:
                await self._make_sandbox(pod, known)
            except CriError as error:
                text = f"Failed to create pod sandbox: {error}"
                raise SandboxError("FailedCreatePodSandBox", text) from error
            except OSError as error:
                raise SandboxError("Failed", f"error making pod data directories: {error}") from error
            return known.addresses

    async def _make_sandbox(self, pod: Pod, known: CriPod) -> None:
        if not pod.spec.host_network:
            await self._check_network()
        if known.sandboxes:
            self._report(pod, "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.")
            for old in list(known.sandboxes.values()):
                await self._client.stop_pod_sandbox(old.id)
                old.is_ready = False
        place = PodPlace(pod, self._settings.host_ip)
        dns = self._dns()
        resolver, faults = pod_resolver(pod, dns, node_resolver())
        for fault in faults:
            self._report(pod, "DNSConfigForming", fault)
        settings = self._settings
        node = SandboxPlace(settings.logs, settings.cgroup_root, settings.instance)
        full_name = fully_qualified(place, dns.domain) if pod.spec.set_hostname_as_fqdn else ""
        config = sandbox_config(place, node, attempt=known.next_attempt, dns=dns_message(resolver), hostname=full_name)
        await asyncio.to_thread(self._make_directories, config.log_directory, known.cgroup, pod)
        id = await self._client.run_pod_sandbox(config, pod.spec.runtime_class_name)
        status = await self._client.pod_sandbox_status(id)
        now = asyncio.get_running_loop().time()
        known.sandboxes[id] = Sandbox(id, config.metadata.attempt, True, status.created_at, now)
        known.addresses, known.instance = _addresses(status), settings.instance

    def _make_directories(self, logs: str, cgroup: str, pod: Pod) -> None:
        Path(logs).mkdir(mode=0o755, parents=True, exist_ok=True)
        self._cgroups.make(cgroup, pod)

    async def _check_network(self) -> None:
        if self.health.network_problem:
            await self._update_health()
        if self.health.network_problem:
            text = f"network is not ready: {self.health.network_problem}"
            raise SandboxError("NetworkNotReady", text, retry_s=_NETWORK_RETRY_S)

    async def stop_sandbox(self, uid: str) -> None:
        """Release the network of a Pod."""
        known = self._pods.get(uid)
        for sandbox in list(known.sandboxes.values()) if known is not None else ():
            if sandbox.is_ready:
                await self._client.stop_pod_sandbox(sandbox.id)
                sandbox.is_ready = False

    async def remove_sandbox(self, uid: str) -> None:
        """Remove a Pod with its containers, logs, files and cgroup."""
        known = self._pods.get(uid)
        if known is None:
            return
        async with known.lock:
            for _, task in known.stops.values():
                task.cancel()
            for sandbox in list(known.sandboxes.values()):
                if sandbox.is_ready or any(record.is_running for record in known.records.values()):
                    await self._client.stop_pod_sandbox(sandbox.id)
                await self._client.remove_pod_sandbox(sandbox.id)
            for run in list(known.runs.values()):
                await self._client.remove_container(run.id)
            await asyncio.to_thread(self._drop_files, known)
            self._pods.drop(uid)

    def _drop_files(self, known: CriPod) -> None:
        shutil.rmtree(self._log_directory(known), ignore_errors=True)
        directory = pod_directory(self._settings.root, known.uid)
        shutil.rmtree(directory / "containers", ignore_errors=True)
        hosts_file(self._settings.root, known.uid).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            directory.rmdir()
        if known.cgroup:
            self._cgroups.remove(known.cgroup)

    # ---- containers

    def containers(self, uid: str) -> Mapping[str, ContainerRecord]:
        """Return the containers by name."""
        known = self._pods.get(uid)
        return {} if known is None else known.records

    async def start_container(
        self, pod: Pod, container: Container, restart_count: int, config: ContainerConfig
    ) -> None:
        """Create and start a container. When this returns, it runs or has ended."""
        known = self._pods.get(pod.metadata.uid)
        sandbox = known.newest if known is not None else None
        if known is None or sandbox is None:
            raise NotCreated("CreateContainerError", "the Pod has no sandbox")
        async with known.lock:
            record = known.records.get(container.name)
            if record is not None and container.name not in known.lost and record.restart_count >= restart_count:
                return
            await self._drop_old_runs(known, container.name)
            try:
                start = await self._prepared(pod, known, container, restart_count, config)
                place = PodPlace(pod, self._settings.host_ip, known.addresses)
                node = SandboxPlace(self._settings.logs, self._settings.cgroup_root, self._settings.instance)
                sandbox_now = sandbox_config(place, node, attempt=sandbox.attempt)
                id = await self._client.create_container(sandbox.id, container_config(start), sandbox_now)
            except (CriError, OSError, ValueError) as error:
                raise NotCreated("CreateContainerError", str(error)) from error
            await self._start(known, id)

    async def _start(self, known: CriPod, id: str) -> None:
        try:
            await self._client.start_container(id)
        except CriError as error:
            run = await self._refresh(known, id)
            if run is not None and run.record is None:
                await self._remove_run(known, run)
                raise NotCreated("RunContainerError", str(error)) from error
            return
        await self._refresh(known, id)

    async def _prepared(
        self, pod: Pod, known: CriPod, container: Container, restart_count: int, config: ContainerConfig
    ) -> Start:
        """Write the files of a run, and return everything that it is made of."""
        image = await self._client.image_status(container.image)
        if image is None:
            raise NotCreated("CreateContainerError", f'image "{container.image}" is gone')
        requests = amounts(container.resources.requests)
        score = oom_score(pod.status.get("qosClass", ""), requests.get("memory", 0), self._settings.memory_bytes)
        target = known.run_named(container.target_container_name) if container.target_container_name else None
        start = Start(
            pod,
            container,
            config,
            restart_count,
            image,
            linux_resources(container.resources, oom_score=score),
            self._settings.root,
            "" if target is None else target.id,
        )
        await asyncio.to_thread(self._write_files, start, known)
        return start

    def _write_files(self, start: Start, known: CriPod) -> None:
        self._log_file(known, start.container.name, start.restart_count).parent.mkdir(parents=True, exist_ok=True)
        start.directory.mkdir(parents=True, exist_ok=True)
        if start.config.termination_message_path:
            start.message_file.write_bytes(b"")
            start.message_file.chmod(0o666)
        place = PodPlace(start.pod, self._settings.host_ip, known.addresses)
        hosts = hosts_file(self._settings.root, known.uid)
        hosts.write_text(hosts_content(place, cluster_domain=self._dns().domain))
        hosts.chmod(0o644)

    async def _drop_old_runs(self, known: CriPod, name: str) -> None:
        """Remove all runs but the newest ended one, and those that were never started."""
        ended = [run for run in known.runs_of(name) if run.record is not None]
        for run in [*ended[1:], *(run for run in known.runs_of(name) if run.record is None)]:
            with contextlib.suppress(CriError):
                await self._remove_run(known, run)

    async def _remove_run(self, known: CriPod, run: Run) -> None:
        await self._client.remove_container(run.id)
        known.runs.pop(run.id, None)
        known.update()

    async def stop_containers(self, pod: Pod, names: Sequence[str], grace_s: float) -> None:
        """Start to stop containers: a stop signal, and SIGKILL after the grace period."""
        known = self._pods.get(pod.metadata.uid)
        if known is None:
            return
        until = asyncio.get_running_loop().time() + grace_s
        for name in names:
            run = known.run_named(name)
            if run is None or (run.id in known.stops and known.stops[run.id][0] <= until):
                continue
            task = self._spawn(self._stop(known, run.id, until), f"end of {known.key}/{name}")
            known.stops[run.id] = (until, task)

    async def _stop(self, known: CriPod, id: str, until: float) -> None:
        """Stop a container, and repeat that until it has ended: the runtime may be restarting."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                await self._client.stop_container(id, max(0.0, until - loop.time()))
                run = await self._refresh(known, id)
            except CriError as error:
                _log.warning("cannot stop container %s of pod %s, retrying: %s", id, known.key, error)
                await asyncio.sleep(_RETRY_S)
                continue
            if run is None or run.record is None or not run.record.is_running:
                known.stops.pop(id, None)
                self._changed(known.key)
                return

    # ---- images

    async def find_image(self, pod: Pod, image: str) -> str:
        """Return the id of an image; empty if the runtime does not have it. Raises `ImageError`."""
        check_image_name(image)
        try:
            found = await self._client.image_status(image)
        except CriError as error:
            raise ImageError("ImageInspectError", f'Failed to inspect image "{image}": {error}') from error
        return "" if found is None else str(found.id)

    async def pull_image(self, pod: Pod, image: str) -> str:
        """Pull an image with the Pod's credentials, each in turn. Raises `ImageError`."""
        check_image_name(image)
        fault: CriError | None = None
        for auth in (*await self._credentials.of(pod, image), None):
            try:
                return await self._client.pull_image(image, auth=auth)
            except CriError as error:
                fault = fault or error
        raise ImageError("ErrImagePull", str(fault)) from fault

    # ---- streams

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """Yield a container's log. Raises `LookupError`."""
        known, record = self._record(pod, container)
        if options.previous:
            if record.previous is None:
                message = f'previous terminated container "{container}" in pod "{pod.metadata.name}" not found'
                raise LookupError(message)
            record = record.previous
        id = record.id
        path = self._log_file(known, container, record.restart_count)

        def is_over() -> bool:
            now = known.records.get(container)
            return now is None or now.id != id or not now.is_running

        async for part in read_log(path, options, self._clock.now(), FollowedLog(path, is_over)):
            yield part

    async def run_command(self, pod: Pod, container: str, command: Sequence[str]) -> tuple[int, bytes]:
        """Run a command to its end. Raises `LookupError`, `OSError`."""
        run = self._running(pod, container)
        try:
            done = await self._client.exec_sync(run.id, command)
        except CriError as error:
            raise OSError(str(error)) from error
        return done.exit_code, done.stdout + done.stderr

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> Session:
        """Start a process in a container, and connect to its streams. Raises `LookupError`, `OSError`."""
        run = self._running(pod, container)
        try:
            url = await self._client.exec_url(run.id, command, streams)
        except CriError as error:
            raise OSError(str(error)) from error
        return await open_session(url, streams)

    async def attach(self, pod: Pod, container: str, streams: Streams) -> Session:
        """Connect to the streams of a container. Raises `LookupError`, `OSError`."""
        run = self._running(pod, container)
        try:
            url = await self._client.attach_url(run.id, streams)
        except CriError as error:
            raise OSError(str(error)) from error
        return await open_session(url, streams)

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

    async def usage(self, uid: str) -> Mapping[str, Usage]:
        """Return CPU time and working set of the Pod's running containers."""
        now = asyncio.get_running_loop().time()
        if now - self._stats[0] > _STATS_S:
            found: dict[str, dict[str, Usage]] = {}
            for each in await self._client.list_container_stats():
                labels = each.attributes.labels
                used = Usage(each.cpu.usage_core_nano_seconds.value / 1e9, int(each.memory.working_set_bytes.value))
                found.setdefault(labels.get(POD_UID, ""), {})[labels.get(CONTAINER_NAME, "")] = used
            self._stats = (now, found)
        return self._stats[1].get(uid, {})

    # ---- logs

    async def _rotate_logs(self) -> None:
        while True:
            await asyncio.sleep(ROTATE_S)
            for known in self._pods:
                for run in list(known.runs.values()):
                    if run.record is not None and run.record.is_running:
                        path = self._log_file(known, run.name, run.record.restart_count)
                        if await asyncio.to_thread(rotate, path, self._clock.now()):
                            with contextlib.suppress(CriError):
                                await self._client.reopen_container_log(run.id)

    def _log_directory(self, known: CriPod) -> Path:
        return Path(self._settings.logs) / f"{known.namespace}_{known.name}_{known.uid}"

    def _log_file(self, known: CriPod, container: str, restart_count: int) -> Path:
        return self._log_directory(known) / log_path(container, restart_count)

    # ---- what is known

    def _record(self, pod: Pod, container: str) -> tuple[CriPod, ContainerRecord]:
        known = self._pods.get(pod.metadata.uid)
        record = known.records.get(container) if known is not None else None
        if known is None or record is None:
            raise LookupError(f'container "{container}" not found in pod "{pod.metadata.name}"')
        return known, record

    def _running(self, pod: Pod, container: str) -> Run:
        known, _ = self._record(pod, container)
        run = known.run_named(container)
        if run is None:
            raise LookupError(f'container "{container}" in pod "{pod.metadata.name}" is not running')
        return run

    def _spawn(self, work: Coroutine[None, None, None], name: str) -> asyncio.Task[None]:
        if self._group is None:
            work.close()
            raise RetryLater("the node agent is shutting down")
        return self._group.create_task(work, name=name)


def _addresses(status: AnyMessage) -> tuple[str, ...]:
    """Return the addresses of a sandbox: the first of each family."""
    found = [status.network.ip, *(each.ip for each in status.network.additional_ips)]
    return tuple(address for address in found if address)
