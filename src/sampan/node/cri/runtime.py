"""`CriRuntime`: containers of a runtime with CRI, such as containerd.

It has one part for each task: `CriObserver` follows the state of the runtime, `CriSandboxes` and `CriContainers` create
and remove, `CriImages` pulls, `CriStreams` serves clients, `CriUsage` measures. This class recovers the state after a
restart.

Guarantees: containers keep running when the agent or the runtime's process ends. `recover` finds running containers by
their labels and adopts them.
Source: kubelet pkg/kubelet/kuberuntime (1.36).
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence, Set
from dataclasses import replace
from pathlib import Path

from sampan.core.time import Clock
from sampan.node.beneath import remove_tree
from sampan.node.cri.client import CriClient
from sampan.node.cri.configuration.sandbox import cgroup_parent
from sampan.node.cri.containers import CriContainers
from sampan.node.cri.errors import CriError
from sampan.node.cri.log_files import LogFiles
from sampan.node.cri.network.guard import NO_GUARD, NetworkGuard
from sampan.node.cri.network.resolver import ClusterDns
from sampan.node.cri.observer import STATUS_S, CriObserver
from sampan.node.cri.pods import CriPod, addresses_of
from sampan.node.cri.registries.configuration import Registries
from sampan.node.cri.registries.images import CriImages
from sampan.node.cri.registries.pull_secrets import Keyring, NoCredentials
from sampan.node.cri.sandboxes import CriSandboxes
from sampan.node.cri.settings import CriSettings
from sampan.node.cri.streams.cri_streams import CriStreams
from sampan.node.cri.usage import CriUsage
from sampan.node.pods.status_records import lost, status_records
from sampan.node.views.pod import Pod
from sampan.node.volumes.removal import remove_pod

_log = logging.getLogger("sampan.node")


async def _no_registries() -> Registries:
    return Registries()


async def _same_name(runtime_class: str) -> str:
    return runtime_class


class CriRuntime:
    """Runtime of a node with containerd, CRI-O or similar: implements `Runtime` with the methods of its parts."""

    def __init__(
        self,
        client: CriClient,
        settings: CriSettings,
        *,
        clock: Clock,
        changed: Callable[[str], None],
        dns: Callable[[], ClusterDns] = ClusterDns,
        credentials: Keyring | None = None,
        handler_of: Callable[[str], Awaitable[str]] = _same_name,
        report: Callable[[Pod, str, str], None] = lambda pod, reason, text: None,
        guard: NetworkGuard = NO_GUARD,
        registries: Callable[[], Awaitable[Registries]] = _no_registries,
    ) -> None:
        """`changed` is called with the key of a Pod whose containers or sandbox have changed.

        `handler_of` returns the handler of a RuntimeClass. `dns` returns the cluster's DNS as it is now. `report`
        writes a warning as an event of a Pod. `guard` protects the networks of Pods. `registries` returns mirrors and
        credentials of the node.
        """
        settings = replace(settings, root=settings.root.absolute())
        log_files = LogFiles(Path(settings.logs))
        observer = CriObserver(client, settings.root, log_files, clock=clock, changed=changed)
        images = CriImages(client, credentials or NoCredentials(), registries)
        streams = CriStreams(client, observer.pods, log_files, clock)
        usage = CriUsage(client, observer.pods)
        sandboxes = CriSandboxes(
            client, settings, observer, log_files, dns=dns, handler_of=handler_of, report=report, guard=guard
        )
        containers = CriContainers(
            client, settings, observer, log_files, images=images, sandboxes=sandboxes, usage=usage
        )
        self._client, self._settings, self._clock = client, settings, clock
        self._observer, self._sandboxes, self._containers = observer, sandboxes, containers
        self.health = observer.health
        self.run = observer.run
        self.log_directory_of = log_files.of_container
        self.find_image, self.pull_image = images.find_image, images.pull_image
        self.run_sandbox, self.addresses = sandboxes.run_sandbox, sandboxes.addresses
        self.stop_sandbox, self.remove_sandbox = sandboxes.stop_sandbox, sandboxes.remove_sandbox
        self.containers, self.start_container = containers.containers, containers.start_container
        self.resize, self.stop_containers = containers.resize, containers.stop_containers
        self.logs, self.run_command, self.exec = streams.logs, streams.run_command, streams.exec
        self.attach, self.port_forward = streams.attach, streams.port_forward
        self.usage, self.network_usage = usage.usage, usage.network_usage
        self.remove_dead_container = containers.remove_dead_container
        self.remove_dead_sandbox = sandboxes.remove_dead_sandbox

    @property
    def version(self) -> str:
        """Name and version of the runtime; without a version before it is connected."""
        return self.health.version

    @property
    def applies_resources(self) -> bool:
        """True: the runtime enforces requests and limits with cgroups."""
        return True

    # ---- recovery

    async def recover(self, pods: Sequence[Pod]) -> None:
        """Adopt running Pods, and remove the Pods of this agent that the API server no longer has."""
        await self._observer.wait_running()
        now, desired = self._clock.now(), {pod.metadata.uid for pod in pods}
        for pod in pods:
            known = self._observer.pods.add(pod.metadata.uid, pod.metadata.namespace, pod.metadata.name)
            known.cgroup = cgroup_parent(pod, self._settings.cgroup_root)
            if not pod.has_ended:
                recorded = (lost(record, now) for record in status_records(pod))
                # A reboot removes the containers, but their restart counts and exit codes are still in the Pod's
                # status.
                known.lost = {record.name: record for record in recorded if record.name not in known.records}
            await self._adopt(known)
            known.update()
        for known in self._observer.pods:
            # Only own Pods: several agents, or other clients of CRI, may share one runtime.
            if known.uid not in desired and known.instance == self._settings.instance:
                self._observer.spawn(self._remove_orphan(known), f"removal of {known.key}")
        await self.drop_directories(desired)

    async def _adopt(self, pod: CriPod) -> None:
        """Read the addresses of a running sandbox, and remove containers that were created but never started."""
        newest = pod.newest
        if newest is not None and newest.is_ready:
            with contextlib.suppress(CriError):
                pod.addresses = addresses_of(await self._client.pod_sandbox_status(newest.id))
        # The agent was killed between create and start. A new attempt uses the same name, which must be free.
        for run in [run for run in pod.runs.values() if run.record is None]:
            await self._containers.remove_run(pod, run)

    async def _remove_orphan(self, pod: CriPod) -> None:
        _log.info("removing a pod that the API server no longer has", extra={"pod": pod.key, "uid": pod.uid})
        while True:
            try:
                await self._sandboxes.remove_sandbox(pod.uid)
                return
            except CriError as error:
                _log.warning("cannot remove pod %s, retrying: %s", pod.key, error)
                await asyncio.sleep(STATUS_S)

    # ---- garbage collection

    def own_pods(self) -> set[str]:
        """Return the uids of the Pods that this agent has made."""
        return {pod.uid for pod in self._observer.pods if pod.instance == self._settings.instance}

    async def drop_directories(self, desired: Set[str]) -> None:
        """Remove files and logs of Pods that neither the API server nor the runtime has.

        `desired`: uids of the Pods of the API server.
        """
        await asyncio.to_thread(self._drop_directories, desired | {pod.uid for pod in self._observer.pods})

    def _drop_directories(self, desired: Set[str]) -> None:
        # Each Pod of this agent has a directory of the agent: logs without one belong to another agent.
        pods, logs = self._settings.root / "pods", Path(self._settings.logs)
        for directory in pods.iterdir() if pods.is_dir() else ():
            if directory.name not in desired:
                remove_pod(directory)
                for log_directory in logs.glob(f"*_{directory.name}"):
                    remove_tree(log_directory)
