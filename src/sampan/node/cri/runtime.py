"""`CriRuntime`: containers of a runtime with CRI, such as containerd.

It has three layers: `CriObserver` follows the state of the runtime, `CriStreams` serves clients, and this class creates
and removes sandboxes and containers.

Concurrency: the lock of a Pod serializes the methods that create and remove its sandboxes and containers.
Guarantees: containers keep running when the agent or the runtime's process ends. `recover` finds running containers by
their labels and adopts them.
Source: kubelet pkg/kubelet/kuberuntime (1.36).
"""

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Final

from sampan.core.numbers.resource_amounts import amounts
from sampan.node.beneath import remove_tree
from sampan.node.container_view import Container
from sampan.node.cri.container_config import Start, container_config, hosts_file, pod_directory
from sampan.node.cri.errors import CriError
from sampan.node.cri.hosts import fully_qualified, hosts_content
from sampan.node.cri.messages import AnyMessage
from sampan.node.cri.observer import RETRY_S, STATUS_S
from sampan.node.cri.pods import CriPod, Run, Sandbox, addresses_of
from sampan.node.cri.resolver import dns_message, node_resolver, pod_resolver
from sampan.node.cri.resources import linux_resources, oom_score
from sampan.node.cri.sandbox_config import SandboxPlace, cgroup_parent, sandbox_config
from sampan.node.cri.streams import CriStreams
from sampan.node.cri.user_namespaces import release, unsupported
from sampan.node.environment.fields import PodPlace
from sampan.node.references import Missing, Unreadable
from sampan.node.runtime import ContainerRecord, NotCreated, ResizeError, SandboxError
from sampan.node.sessions import ContainerConfig
from sampan.node.status_records import lost, status_records
from sampan.node.views import Pod
from sampan.node.volumes.removal import remove_pod

_NETWORK_RETRY_S: Final = 0.5
_log = logging.getLogger("sampan.node")


class CriRuntime(CriStreams):
    """Runtime of a node with containerd, CRI-O or similar."""

    # ---- recovery

    async def recover(self, pods: Sequence[Pod]) -> None:
        """Adopt running Pods, and remove the Pods of this agent that the API server no longer has."""
        await self._is_running.wait()
        now, desired = self._clock.now(), {pod.metadata.uid for pod in pods}
        for pod in pods:
            known = self._pods.add(pod.metadata.uid, pod.metadata.namespace, pod.metadata.name)
            known.cgroup = cgroup_parent(pod, self._settings.cgroup_root)
            if not pod.has_ended:
                recorded = (lost(record, now) for record in status_records(pod))
                # A reboot removes the containers, but their restart counts and exit codes are still in the Pod's
                # status.
                known.lost = {record.name: record for record in recorded if record.name not in known.records}
            await self._adopt(known)
            known.update()
        for known in self._pods:
            # Only own Pods: several agents, or other clients of CRI, may share one runtime.
            if known.uid not in desired and known.instance == self._settings.instance:
                self._spawn(self._remove_orphan(known), f"removal of {known.key}")
        await self.drop_directories(desired)

    async def _adopt(self, pod: CriPod) -> None:
        """Read the addresses of a running sandbox, and remove containers that were created but never started."""
        newest = pod.newest
        if newest is not None and newest.is_ready:
            with contextlib.suppress(CriError):
                pod.addresses = addresses_of(await self._client.pod_sandbox_status(newest.id))
        # The agent was killed between create and start. A new attempt uses the same name, which must be free.
        for run in [run for run in pod.runs.values() if run.record is None]:
            await self._remove_run(pod, run)

    async def _remove_orphan(self, pod: CriPod) -> None:
        _log.info("removing a pod that the API server no longer has", extra={"pod": pod.key, "uid": pod.uid})
        while True:
            try:
                await self.remove_sandbox(pod.uid)
                return
            except CriError as error:
                _log.warning("cannot remove pod %s, retrying: %s", pod.key, error)
                await asyncio.sleep(STATUS_S)

    # ---- garbage collection

    def own_pods(self) -> set[str]:
        """Return the uids of the Pods that this agent has made."""
        return {pod.uid for pod in self._pods if pod.instance == self._settings.instance}

    async def drop_directories(self, desired: Set[str]) -> None:
        """Remove files and logs of Pods that neither the API server nor the runtime has.

        `desired`: uids of the Pods of the API server.
        """
        await asyncio.to_thread(self._drop_directories, desired | {pod.uid for pod in self._pods})

    async def remove_dead_container(self, uid: str, id: str) -> None:
        """Remove a container that has ended."""
        known = self._pods.get(uid)
        if known is None:
            return
        async with known.lock:
            run = known.runs.get(id)
            # Checked again under the lock: the container may have been replaced since the collector listed it.
            if run is not None and run.record is not None and not run.record.is_running:
                await self._remove_run(known, run)

    async def remove_dead_sandbox(self, uid: str, id: str) -> None:
        """Remove a sandbox that is not ready."""
        known = self._pods.get(uid)
        if known is None:
            return
        async with known.lock:
            sandbox = known.sandboxes.get(id)
            if sandbox is not None and not sandbox.is_ready:
                await self._client.remove_pod_sandbox(id)
                known.sandboxes.pop(id, None)

    def _drop_directories(self, desired: Set[str]) -> None:
        # Each Pod of this agent has a directory of the agent: logs without one belong to another agent.
        pods, logs = self._settings.root / "pods", Path(self._settings.logs)
        for directory in pods.iterdir() if pods.is_dir() else ():
            if directory.name not in desired:
                remove_pod(directory)
                for log_directory in logs.glob(f"*_{directory.name}"):
                    remove_tree(log_directory)

    # ---- sandboxes

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        """Return the addresses of the Pod's sandbox. Create it unless a usable one exists.

        When this returns, the rules of the Pod's network are in place: no container starts before that.
        """
        addresses = await self._sandbox_addresses(pod)
        if addresses and not pod.spec.host_network and pod.metadata.deletion_timestamp is None:
            await self._guard.protect(pod, addresses)
        return addresses

    async def _sandbox_addresses(self, pod: Pod) -> Sequence[str]:
        await self._is_running.wait()
        metadata = pod.metadata
        known = self._pods.add(metadata.uid, metadata.namespace, metadata.name)
        known.cgroup = known.cgroup or cgroup_parent(pod, self._settings.cgroup_root)
        async with known.lock:
            newest = known.newest
            has_network = bool(known.addresses) or pod.spec.host_network
            # A Pod that is being deleted gets no new sandbox: its network would be set up only to be removed.
            if metadata.deletion_timestamp is not None or (newest is not None and newest.is_ready and has_network):
                return known.addresses
            try:
                await self._make_sandbox(pod, known)
            except (CriError, Missing, Unreadable) as error:
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
                # Before the new sandbox, because CNI may assign the address of the old one only after its release.
                await self._client.stop_pod_sandbox(old.id)
                old.is_ready = False
        place = PodPlace(pod, self._settings.host_ips)
        dns = self._dns()
        resolver, faults = pod_resolver(pod, dns, node_resolver())
        for fault in faults:
            self._report(pod, "DNSConfigForming", fault)
        settings = self._settings
        handler = await self._handler_of(pod.spec.runtime_class_name) if pod.spec.runtime_class_name else ""
        if pod.spec.host_users is False and not self.health.has_user_namespaces(handler):
            raise unsupported(handler)
        node = await self._place_of(pod)
        full_name = fully_qualified(place, dns.domain) if pod.spec.set_hostname_as_fqdn else ""
        config = sandbox_config(place, node, attempt=known.next_attempt, dns=dns_message(resolver), hostname=full_name)
        await asyncio.to_thread(self._make_directories, config.log_directory, known.cgroup, pod)
        # Recorded at once with the time, so that a list that began earlier does not remove it from the memory.
        id = await self._client.run_pod_sandbox(config, handler)
        status = await self._client.pod_sandbox_status(id)
        now = asyncio.get_running_loop().time()
        known.sandboxes[id] = Sandbox(id, config.metadata.attempt, True, status.created_at, now)
        known.addresses, known.instance = addresses_of(status), settings.instance

    async def _place_of(self, pod: Pod) -> SandboxPlace:
        """Return the settings of a Pod's sandbox, with the range of ids if the Pod has its own user namespace."""
        settings = self._settings
        first_id = 0
        if pod.spec.host_users is False:
            directory = pod_directory(settings.root, pod.metadata.uid)
            first_id = await asyncio.to_thread(self._user_namespaces.first_id, directory)
        return SandboxPlace(settings.logs, settings.cgroup_root, settings.instance, first_id)

    def _make_directories(self, logs: str, cgroup: str, pod: Pod) -> None:
        Path(logs).mkdir(mode=0o755, parents=True, exist_ok=True)
        self._cgroups.make(cgroup, pod)

    async def _check_network(self) -> None:
        if self.health.network_problem:
            await self._update_health()
        if self.health.network_problem:
            text = f"network is not ready: {self.health.network_problem}"
            raise SandboxError("NetworkNotReady", text, retry_s=_NETWORK_RETRY_S)

    def addresses(self, uid: str) -> Sequence[str]:
        """Return the addresses of the Pod's sandbox; none after its end, when another Pod may get them."""
        known = self._pods.get(uid)
        newest = known.newest if known is not None else None
        return known.addresses if known is not None and newest is not None and newest.is_ready else ()

    async def stop_sandbox(self, uid: str) -> None:
        """Release the network of a Pod."""
        known = self._pods.get(uid)
        for sandbox in list(known.sandboxes.values()) if known is not None else ():
            if sandbox.is_ready:
                await self._client.stop_pod_sandbox(sandbox.id)
                sandbox.is_ready = False
        self._guard.release(uid)

    async def remove_sandbox(self, uid: str) -> None:
        """Remove a Pod with its containers, logs, files and cgroup."""
        known = self._pods.get(uid)
        if known is None:
            return
        async with known.lock:
            # The sandbox is stopped as a whole below, which ends all containers.
            for _, task in known.stops.values():
                task.cancel()
            for sandbox in list(known.sandboxes.values()):
                if sandbox.is_ready or any(record.is_running for record in known.records.values()):
                    await self._client.stop_pod_sandbox(sandbox.id)
                await self._client.remove_pod_sandbox(sandbox.id)
            for run in list(known.runs.values()):
                await self._client.remove_container(run.id)
            self._guard.release(uid)
            await asyncio.to_thread(self._drop_files, known)
            self._pods.drop(uid)

    def _drop_files(self, known: CriPod) -> None:
        remove_tree(self._log_directory(known))
        directory = pod_directory(self._settings.root, known.uid)
        remove_tree(directory / "containers")
        hosts_file(self._settings.root, known.uid).unlink(missing_ok=True)
        release(directory)
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
            # Another sync of the same Pod has started this run already.
            if record is not None and container.name not in known.lost and record.restart_count >= restart_count:
                return
            await self._drop_old_runs(known, container.name)
            if any(mount.image for mount in config.mounts) and not self.health.mounts_images:
                raise NotCreated("CreateContainerError", f"{self.version} cannot mount images: containerd 2.1 can")
            try:
                node = await self._place_of(pod)
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
            run = await self._refresh(known, id)
            if run is not None and run.record is None:
                await self._remove_run(known, run)
                raise NotCreated("RunContainerError", str(error)) from error
            return
        await self._refresh(known, id)

    async def _prepared(
        self,
        pod: Pod,
        known: CriPod,
        container: Container,
        restart_count: int,
        config: ContainerConfig,
        first_id: int,
    ) -> Start:
        """Write the files of a run, and return the inputs for its configuration."""
        image = await self._image(container.image)
        if image is None:
            raise NotCreated("CreateContainerError", f'image "{container.image}" is gone')
        target = known.run_named(container.target_container_name) if container.target_container_name else None
        start = Start(
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

    def _write_files(self, start: Start, known: CriPod) -> None:
        self._log_file(known, start.container.name, start.restart_count).parent.mkdir(parents=True, exist_ok=True)
        start.directory.mkdir(parents=True, exist_ok=True)
        if start.config.termination_message_path:
            start.message_file.write_bytes(b"")
            # The container may run as any user.
            start.message_file.chmod(0o666)
        place = PodPlace(start.pod, self._settings.host_ips, known.addresses)
        hosts = hosts_file(self._settings.root, known.uid)
        hosts.write_text(hosts_content(place, cluster_domain=self._dns().domain))
        hosts.chmod(0o644)

    async def _drop_old_runs(self, known: CriPod, name: str) -> None:
        """Remove all runs but the newest ended one, and those that were never started."""
        ended = [run for run in known.runs_of(name) if run.record is not None]
        # The newest ended run stays, for `kubectl logs --previous`.
        for run in [*ended[1:], *(run for run in known.runs_of(name) if run.record is None)]:
            with contextlib.suppress(CriError):
                await self._remove_run(known, run)

    async def _remove_run(self, known: CriPod, run: Run) -> None:
        await self._client.remove_container(run.id)
        known.runs.pop(run.id, None)
        known.update()

    async def resize(self, pod: Pod, names: Sequence[str]) -> None:
        """Change limits: higher ones of the Pod first, then those of containers, then lower ones of the Pod."""
        known = self._pods.get(pod.metadata.uid)
        if known is None:
            return
        async with known.lock:
            try:
                await asyncio.to_thread(self._cgroups.update, known.cgroup, pod, only_raise=True)
                for name in names:
                    await self._resize_container(pod, known, pod.spec.container(name))
                await asyncio.to_thread(self._cgroups.update, known.cgroup, pod, only_raise=False)
            except (CriError, OSError) as error:
                raise ResizeError(str(error)) from error

    async def _resize_container(self, pod: Pod, known: CriPod, container: Container) -> None:
        run = known.run_named(container.name)
        if run is None:
            return
        limit = amounts(container.resources.limits).get("memory", 0)
        used = (await self.usage(known.uid)).get(container.name)
        if limit and used is not None and used.memory_bytes >= limit:
            raise ResizeError(
                f'cannot decrease memory limits: attempting to set container "{container.name}" memory limit ({limit}) '
                f"below current usage ({used.memory_bytes})"
            )
        await self._client.update_container_resources(run.id, self._linux_resources(pod, container))

    def _linux_resources(self, pod: Pod, container: Container) -> AnyMessage:
        requests = amounts(container.resources.requests)
        score = oom_score(pod.status.get("qosClass", ""), requests.get("memory", 0), self._settings.memory_bytes)
        return linux_resources(container.resources, oom_score=score)

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
        """Stop a container, and retry until it has ended, because the runtime may be restarting."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                await self._client.stop_container(id, max(0.0, until - loop.time()))
                run = await self._refresh(known, id)
            except CriError as error:
                _log.warning("cannot stop container %s of pod %s, retrying: %s", id, known.key, error)
                await asyncio.sleep(RETRY_S)
                continue
            if run is None or run.record is None or not run.record.is_running:
                known.stops.pop(id, None)
                self._changed(known.key)
                return
