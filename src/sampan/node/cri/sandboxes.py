"""`CriSandboxes`: creates and removes the sandboxes of a runtime with CRI: the network and the directories of Pods.

Concurrency: the lock of a Pod serializes the methods that create and remove its sandboxes and containers.
Source: kubelet pkg/kubelet/kuberuntime/kuberuntime_sandbox.go (1.36).
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

from sampan.node.beneath import remove_tree
from sampan.node.cri.cgroups import PodCgroups
from sampan.node.cri.client import CriClient
from sampan.node.cri.configuration.container import hosts_file, pod_directory
from sampan.node.cri.configuration.sandbox import SandboxPlace, cgroup_parent, sandbox_config
from sampan.node.cri.configuration.user_namespaces import UserNamespaces, release, unsupported
from sampan.node.cri.errors import CriError
from sampan.node.cri.log_files import LogFiles
from sampan.node.cri.network.guard import NetworkGuard
from sampan.node.cri.network.hosts import fully_qualified
from sampan.node.cri.network.resolver import ClusterDns, dns_message, node_resolver, pod_resolver
from sampan.node.cri.observer import CriObserver
from sampan.node.cri.pods import CriPod, Sandbox, addresses_of
from sampan.node.cri.settings import CriSettings
from sampan.node.environment.fields import PodPlace
from sampan.node.references import Missing, Unreadable
from sampan.node.runtime import SandboxError
from sampan.node.views.pod import Pod

_NETWORK_RETRY_S: Final = 0.5


class CriSandboxes:
    """Sandboxes of a node's Pods."""

    def __init__(
        self,
        client: CriClient,
        settings: CriSettings,
        observer: CriObserver,
        log_files: LogFiles,
        *,
        dns: Callable[[], ClusterDns],
        handler_of: Callable[[str], Awaitable[str]],
        report: Callable[[Pod, str, str], None],
        guard: NetworkGuard,
    ) -> None:
        """`handler_of` returns the handler of a RuntimeClass. `report` writes a warning as an event of a Pod."""
        self.dns = dns
        self.cgroups = PodCgroups()
        self._client = client
        self._settings = settings
        self._observer = observer
        self._log_files = log_files
        self._handler_of = handler_of
        self._report = report
        self._guard = guard
        self._user_namespaces = UserNamespaces()

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        """Return the addresses of the Pod's sandbox. Create it unless a usable one exists.

        When this returns, the rules of the Pod's network are in place: no container starts before that.
        """
        addresses = await self._sandbox_addresses(pod)
        if addresses and not pod.spec.host_network and pod.metadata.deletion_timestamp is None:
            await self._guard.protect(pod, addresses)
        return addresses

    async def _sandbox_addresses(self, pod: Pod) -> Sequence[str]:
        await self._observer.wait_running()
        metadata = pod.metadata
        known = self._observer.pods.add(metadata.uid, metadata.namespace, metadata.name)
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
        dns = self.dns()
        resolver, faults = pod_resolver(pod, dns, node_resolver())
        for fault in faults:
            self._report(pod, "DNSConfigForming", fault)
        settings = self._settings
        handler = await self._handler_of(pod.spec.runtime_class_name) if pod.spec.runtime_class_name else ""
        if pod.spec.host_users is False and not self._observer.health.has_user_namespaces(handler):
            raise unsupported(handler)
        node = await self.place_of(pod)
        full_name = fully_qualified(place, dns.domain) if pod.spec.set_hostname_as_fqdn else ""
        config = sandbox_config(place, node, attempt=known.next_attempt, dns=dns_message(resolver), hostname=full_name)
        await asyncio.to_thread(self._make_directories, config.log_directory, known.cgroup, pod)
        # Recorded at once with the time, so that a list that began earlier does not remove it from the memory.
        id = await self._client.run_pod_sandbox(config, handler)
        status = await self._client.pod_sandbox_status(id)
        now = asyncio.get_running_loop().time()
        known.sandboxes[id] = Sandbox(id, config.metadata.attempt, True, status.created_at, now)
        known.addresses, known.instance = addresses_of(status), settings.instance

    async def place_of(self, pod: Pod) -> SandboxPlace:
        """Return the settings of a Pod's sandbox, with the range of ids if the Pod has its own user namespace."""
        settings = self._settings
        first_id = 0
        if pod.spec.host_users is False:
            directory = pod_directory(settings.root, pod.metadata.uid)
            first_id = await asyncio.to_thread(self._user_namespaces.first_id, directory)
        return SandboxPlace(settings.logs, settings.cgroup_root, settings.instance, first_id)

    def _make_directories(self, logs: str, cgroup: str, pod: Pod) -> None:
        Path(logs).mkdir(mode=0o755, parents=True, exist_ok=True)
        self.cgroups.make(cgroup, pod)

    async def _check_network(self) -> None:
        if self._observer.health.network_problem:
            await self._observer.update_health()
        if self._observer.health.network_problem:
            text = f"network is not ready: {self._observer.health.network_problem}"
            raise SandboxError("NetworkNotReady", text, retry_s=_NETWORK_RETRY_S)

    def addresses(self, uid: str) -> Sequence[str]:
        """Return the addresses of the Pod's sandbox; none after its end, when another Pod may get them."""
        known = self._observer.pods.get(uid)
        newest = known.newest if known is not None else None
        return known.addresses if known is not None and newest is not None and newest.is_ready else ()

    async def stop_sandbox(self, uid: str) -> None:
        """Release the network of a Pod."""
        known = self._observer.pods.get(uid)
        for sandbox in list(known.sandboxes.values()) if known is not None else ():
            if sandbox.is_ready:
                await self._client.stop_pod_sandbox(sandbox.id)
                sandbox.is_ready = False
        self._guard.release(uid)

    async def remove_sandbox(self, uid: str) -> None:
        """Remove a Pod with its containers, logs, files and cgroup."""
        known = self._observer.pods.get(uid)
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
            self._observer.pods.drop(uid)

    def _drop_files(self, known: CriPod) -> None:
        remove_tree(self._log_files.of_pod(known))
        directory = pod_directory(self._settings.root, known.uid)
        remove_tree(directory / "containers")
        hosts_file(self._settings.root, known.uid).unlink(missing_ok=True)
        release(directory)
        with contextlib.suppress(OSError):
            directory.rmdir()
        if known.cgroup:
            self.cgroups.remove(known.cgroup)

    async def remove_dead_sandbox(self, uid: str, id: str) -> None:
        """Remove a sandbox that is not ready."""
        known = self._observer.pods.get(uid)
        if known is None:
            return
        async with known.lock:
            sandbox = known.sandboxes.get(id)
            if sandbox is not None and not sandbox.is_ready:
                await self._client.remove_pod_sandbox(id)
                known.sandboxes.pop(id, None)
