"""`CriContainers`: creates, resizes, stops and removes containers of a runtime with CRI, in the Pods' sandboxes.

Concurrency: the lock of a Pod serializes the methods that create and remove its sandboxes and containers.
Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_container.go (1.36).
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence

from sampan.core.numbers.resource_amounts import amounts
from sampan.node.cri.client import CriClient
from sampan.node.cri.configuration.container import ContainerInputs, container_config, hosts_file
from sampan.node.cri.configuration.resources import linux_resources, oom_score
from sampan.node.cri.configuration.sandbox import sandbox_config
from sampan.node.cri.errors import CriError
from sampan.node.cri.log_files import LogFiles
from sampan.node.cri.messages import AnyMessage
from sampan.node.cri.network.hosts import hosts_content
from sampan.node.cri.observer import RETRY_S, CriObserver
from sampan.node.cri.pods import ContainerRun, CriPod
from sampan.node.cri.registries.images import CriImages
from sampan.node.cri.sandboxes import CriSandboxes
from sampan.node.cri.settings import CriSettings
from sampan.node.cri.usage import CriUsage
from sampan.node.environment.fields import PodPlace
from sampan.node.runtime import ContainerRecord, NotCreated, ResizeError
from sampan.node.sessions import ContainerConfig
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod

_log = logging.getLogger("sampan.node")


class CriContainers:
    """Containers of a node's Pods."""

    def __init__(
        self,
        client: CriClient,
        settings: CriSettings,
        observer: CriObserver,
        log_files: LogFiles,
        *,
        images: CriImages,
        sandboxes: CriSandboxes,
        usage: CriUsage,
    ) -> None:
        self._client = client
        self._settings = settings
        self._observer = observer
        self._log_files = log_files
        self._images = images
        self._sandboxes = sandboxes
        self._usage = usage

    def containers(self, uid: str) -> Mapping[str, ContainerRecord]:
        """Return the containers by name."""
        known = self._observer.pods.get(uid)
        return {} if known is None else known.records

    async def start_container(
        self, pod: Pod, container: Container, restart_count: int, config: ContainerConfig
    ) -> None:
        """Create and start a container. When this returns, it runs or has ended."""
        known = self._observer.pods.get(pod.metadata.uid)
        sandbox = known.newest if known is not None else None
        if known is None or sandbox is None:
            raise NotCreated("CreateContainerError", "the Pod has no sandbox")
        async with known.lock:
            record = known.records.get(container.name)
            # Another sync of the same Pod has started this run already.
            if record is not None and container.name not in known.lost and record.restart_count >= restart_count:
                return
            await self._drop_old_runs(known, container.name)
            health = self._observer.health
            if any(mount.image for mount in config.mounts) and not health.mounts_images:
                raise NotCreated("CreateContainerError", f"{health.version} cannot mount images: containerd 2.1 can")
            try:
                node = await self._sandboxes.place_of(pod)
                start = await self._prepared(pod, known, container, restart_count, config, node.first_id)
                place = PodPlace(pod, self._settings.host_ips, known.addresses)
                sandbox_now = sandbox_config(place, node, attempt=sandbox.attempt)
                id = await self._client.create_container(sandbox.id, container_config(start), sandbox_now)
            except (CriError, OSError, ValueError) as error:
                raise NotCreated("CreateContainerError", str(error)) from error
            await self._start(known, id)

    async def _start(self, known: CriPod, id: str) -> None:
        try:
            await self._client.start_container(id)
        except CriError as error:
            run = await self._observer.refresh(known, id)
            if run is not None and run.record is None:
                await self.remove_run(known, run)
                raise NotCreated("RunContainerError", str(error)) from error
            return
        await self._observer.refresh(known, id)

    async def _prepared(
        self,
        pod: Pod,
        known: CriPod,
        container: Container,
        restart_count: int,
        config: ContainerConfig,
        first_id: int,
    ) -> ContainerInputs:
        """Write the files of a run, and return the inputs for its configuration."""
        image = await self._images.image(container.image)
        if image is None:
            raise NotCreated("CreateContainerError", f'image "{container.image}" is gone')
        target = known.run_named(container.target_container_name) if container.target_container_name else None
        start = ContainerInputs(
            pod,
            container,
            config,
            restart_count,
            image,
            self._linux_resources(pod, container),
            self._settings.root,
            "" if target is None else target.id,
            first_id,
        )
        await asyncio.to_thread(self._write_files, start, known)
        return start

    def _write_files(self, start: ContainerInputs, known: CriPod) -> None:
        self._log_files.file(known, start.container.name, start.restart_count).parent.mkdir(parents=True, exist_ok=True)
        start.directory.mkdir(parents=True, exist_ok=True)
        if start.config.termination_message_path:
            start.message_file.write_bytes(b"")
            # The container may run as any user.
            start.message_file.chmod(0o666)
        place = PodPlace(start.pod, self._settings.host_ips, known.addresses)
        hosts = hosts_file(self._settings.root, known.uid)
        hosts.write_text(hosts_content(place, cluster_domain=self._sandboxes.dns().domain))
        hosts.chmod(0o644)

    async def _drop_old_runs(self, known: CriPod, name: str) -> None:
        """Remove all runs but the newest ended one, and those that were never started."""
        ended = [run for run in known.runs_of(name) if run.record is not None]
        # The newest ended run stays, for `kubectl logs --previous`.
        for run in [*ended[1:], *(run for run in known.runs_of(name) if run.record is None)]:
            with contextlib.suppress(CriError):
                await self.remove_run(known, run)

    async def remove_run(self, known: CriPod, run: ContainerRun) -> None:
        """Remove a container that does not run. The caller has the lock of the Pod."""
        await self._client.remove_container(run.id)
        known.runs.pop(run.id, None)
        known.update()

    async def resize(self, pod: Pod, names: Sequence[str]) -> None:
        """Change limits: higher ones of the Pod first, then those of containers, then lower ones of the Pod."""
        known = self._observer.pods.get(pod.metadata.uid)
        if known is None:
            return
        async with known.lock:
            try:
                await asyncio.to_thread(self._sandboxes.cgroups.update, known.cgroup, pod, only_raise=True)
                for name in names:
                    await self._resize_container(pod, known, pod.spec.container(name))
                await asyncio.to_thread(self._sandboxes.cgroups.update, known.cgroup, pod, only_raise=False)
            except (CriError, OSError) as error:
                raise ResizeError(str(error)) from error

    async def _resize_container(self, pod: Pod, known: CriPod, container: Container) -> None:
        run = known.run_named(container.name)
        if run is None:
            return
        limit = amounts(container.resources.limits).get("memory", 0)
        used = (await self._usage.usage(known.uid)).get(container.name)
        if limit and used is not None and used.memory_bytes >= limit:
            raise ResizeError(
                f'cannot decrease memory limits: attempting to set container "{container.name}" memory limit ({limit}) '
                f"below current usage ({used.memory_bytes})"
            )
        await self._client.update_container_resources(run.id, self._linux_resources(pod, container))

    def _linux_resources(self, pod: Pod, container: Container) -> AnyMessage:
        requests = amounts(container.resources.requests)
        score = oom_score(pod.reported.get("qosClass", ""), requests.get("memory", 0), self._settings.memory_bytes)
        return linux_resources(container.resources, oom_score=score)

    async def stop_containers(self, pod: Pod, names: Sequence[str], grace_s: float) -> None:
        """Start to stop containers: a stop signal, and SIGKILL after the grace period."""
        known = self._observer.pods.get(pod.metadata.uid)
        if known is None:
            return
        until = asyncio.get_running_loop().time() + grace_s
        for name in names:
            run = known.run_named(name)
            if run is None or (run.id in known.stops and known.stops[run.id][0] <= until):
                continue
            task = self._observer.spawn(self._stop(known, run.id, until), f"end of {known.key}/{name}")
            known.stops[run.id] = (until, task)

    async def _stop(self, known: CriPod, id: str, until: float) -> None:
        """Stop a container, and retry until it has ended, because the runtime may be restarting."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                await self._client.stop_container(id, max(0.0, until - loop.time()))
                run = await self._observer.refresh(known, id)
            except CriError as error:
                _log.warning("cannot stop container %s of pod %s, retrying: %s", id, known.key, error)
                await asyncio.sleep(RETRY_S)
                continue
            if run is None or run.record is None or not run.record.is_running:
                known.stops.pop(id, None)
                self._observer.changed(known.key)
                return

    async def remove_dead_container(self, uid: str, id: str) -> None:
        """Remove a container that has ended."""
        known = self._observer.pods.get(uid)
        if known is None:
            return
        async with known.lock:
            run = known.runs.get(id)
            # Checked again under the lock: the container may have been replaced since the collector listed it.
            if run is not None and run.record is not None and not run.record.is_running:
                await self.remove_run(known, run)
