"""`ProcessSupport`: volumes, environment, probes, hooks and ordered shutdown of containers that are processes.

Concurrency: probes, hooks and shutdowns are tasks of `Tasks`; the worker calls the methods for one Pod at a time.
Source: kubernetes pkg/kubelet/kuberuntime/kuberuntime_manager.go `SyncPod`, `computePodActions` (1.36).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sampan.core.time import Clock
from sampan.node.containers.config import ContainerConfigs
from sampan.node.containers.post_starts import PostStarts
from sampan.node.containers.support import Configs, Records
from sampan.node.containers.terminations import Terminations
from sampan.node.environment.fields import PodPlace
from sampan.node.environment.services import Service, service_environment
from sampan.node.node_events import NodeEvents
from sampan.node.probes.prober import Prober
from sampan.node.references import References
from sampan.node.runtime import ContainerRecord, Runtime
from sampan.node.tasks import Tasks
from sampan.node.views.container import Container
from sampan.node.volumes.csi import VolumeFault
from sampan.node.volumes.mounts import MountedVolume
from sampan.node.volumes.volumes import MountFailed, Volumes

MOUNT_RETRY_FIRST_S: Final = 0.5
MOUNT_RETRY_MAX_S: Final = 122.0
ATTACH_RETRY_S: Final = 1.0
"""Seconds between checks of a volume that another program attaches."""


@dataclass(slots=True)
class _Mounts:
    """Volumes of one Pod, and the backoff after a failed mount."""

    mounted: Mapping[str, MountedVolume] = field(default_factory=dict)
    tries: int = 0
    waits: dict[str, str] = field(default_factory=dict)
    """Reasons to wait that were reported already, by volume."""
    retry_at: float = 0.0
    """Time of the next attempt, in seconds since 1970; 0 if no mount has failed."""


class ProcessSupport:
    """Support for all Pods of this process."""

    def __init__(
        self,
        references: References,
        volumes: Volumes,
        services: Callable[[], Awaitable[Sequence[Service]]],
        *,
        tasks: Tasks,
        events: NodeEvents,
        clock: Clock,
        changed: Callable[[str], None],
        images_have_users: bool = False,
    ) -> None:
        """`services` returns the Services whose variables containers get.

        `images_have_users`: the runtime checks the user of a container that sets none.
        `changed` is called with a Pod's key when a probe or a hook has a new result.
        """
        self._images_have_users = images_have_users
        self._references = references
        self._volumes = volumes
        self._services = services
        self._tasks = tasks
        self._events = events
        self._clock = clock
        self._prober = Prober(tasks, events, changed)
        self._post_starts = PostStarts(tasks, events, changed)
        self._terminations = Terminations(tasks, events)
        self._mounts: dict[str, _Mounts] = {}

    async def mount(self, place: PodPlace) -> bool:
        """Mount the Pod's volumes, and report each one that fails as an event."""
        await self._tasks.running()
        mounts = self._mounts.setdefault(place.pod.metadata.uid, _Mounts())
        try:
            mounts.mounted = await self._volumes.mount(place)
        except MountFailed as error:
            wait_s = min(MOUNT_RETRY_MAX_S, MOUNT_RETRY_FIRST_S * 2 ** min(mounts.tries, 10))
            if all(isinstance(fault, VolumeFault) and fault.is_wait for fault in error.faults.values()):
                wait_s = ATTACH_RETRY_S
            self._report(place, mounts, error.faults)
            mounts.tries += 1
            mounts.retry_at = self._clock.now().timestamp() + wait_s
            return False
        mounts.tries, mounts.retry_at = 0, 0.0
        mounts.waits.clear()
        return True

    def _report(self, place: PodPlace, mounts: _Mounts, faults: Mapping[str, Exception]) -> None:
        """Report failed mounts as events. A wait for another program is reported once."""
        for name, fault in faults.items():
            action, volume = "MountVolume.SetUp", name
            if isinstance(fault, VolumeFault):
                action, volume = fault.action, fault.volume
                if fault.is_wait and mounts.waits.get(name) == str(fault):
                    continue
                mounts.waits[name] = str(fault)
            reason = "FailedMapVolume" if action.startswith("MapVolume") else "FailedMount"
            self._events.warning(place.pod, reason, f'{action} failed for volume "{volume}" : {fault}')

    async def unmount(self, uid: str) -> None:
        """Unmount the volumes of drivers, after the containers of the Pod have ended.

        After an error, the worker calls it again.
        """
        await self._tasks.running()
        await self._volumes.unmount(uid)

    def recover(self, uids: set[str]) -> None:
        """Unmount the CSI volumes of all Pods except `uids`."""
        self._volumes.recover(uids)

    async def configs(self, place: PodPlace) -> Configs:
        """Return the configurations of the Pod's containers, with the variables of the current Services."""
        uid = place.pod.metadata.uid
        links = place.pod.spec.enable_service_links
        return ContainerConfigs(
            place,
            volumes=self._mounts[uid].mounted,
            services=service_environment(await self._services(), place.pod.metadata.namespace, links=links),
            references=self._references,
            sub_paths=self._volumes.sub_paths_of(uid),
            images_have_users=self._images_have_users,
        )

    def observe(self, runtime: Runtime, place: PodPlace) -> None:
        """Start probes of new containers; end probes and shutdowns of those that have ended."""
        uid = place.pod.metadata.uid
        records = dict(runtime.containers(uid))
        self._terminations.observe(uid, records)
        self._prober.observe(runtime, place, records)

    def applied(self, uid: str, records: Records) -> Records:
        """Return the records with the results of probes and postStart hooks."""
        return self._prober.applied(uid, self._post_starts.applied(uid, dict(records)))

    def started(self, runtime: Runtime, place: PodPlace, container: Container, record: ContainerRecord) -> None:
        """Run the postStart hook of a container, if it has one."""
        self._post_starts.begin(runtime, place, container, record)

    def delays_starts(self, uid: str) -> bool:
        """Return whether a postStart hook of the Pod runs."""
        return self._post_starts.runs(uid)

    async def stop(self, runtime: Runtime, place: PodPlace, names: Sequence[str], grace_s: float) -> None:
        """Start to stop containers.

        Does nothing for those that are being stopped, unless their grace period is shorter now.
        """
        uid = place.pod.metadata.uid
        self._terminations.observe(uid, self.applied(uid, runtime.containers(uid)))
        self._terminations.begin(runtime, place, names, grace_s=grace_s)

    def stop_unhealthy(self, runtime: Runtime, place: PodPlace, grace_s: float) -> None:
        """Start to stop containers whose hook or probe has failed."""
        pod, uid = place.pod, place.pod.metadata.uid
        for name in self._post_starts.failed(uid):
            self._terminations.begin(runtime, place, [name], grace_s=grace_s, message="FailedPostStartHook")
        for name in runtime.containers(uid):
            kind = self._prober.failed(uid, name)
            if kind is None:
                continue
            container = pod.spec.container(name)
            probe = container.liveness_probe if kind == "Liveness" else container.startup_probe
            own_s = None if probe is None else probe.termination_grace_period_seconds
            init = any(each.name == name for each in pod.spec.init_containers)
            message = f"{'Init container' if init else 'Container'} {name} failed {kind.lower()} probe"
            if pod.spec.restart_policy != "Never" and not init:
                message += ", will be restarted"
            probe_grace_s = grace_s if own_s is None else float(own_s)
            self._terminations.begin(runtime, place, [name], grace_s=probe_grace_s, message=message)

    def pod_ends(self, uid: str) -> None:
        """End startup and liveness probes. Readiness is still checked, so that Services notice the shutdown."""
        self._prober.pod_ends(uid)

    def pod_ended(self, uid: str) -> None:
        """End all probes and shutdowns of a Pod."""
        self._prober.forget(uid)
        self._terminations.observe(uid, {})

    def wake_s(self, uid: str) -> float | None:
        """Return in how many seconds a token must be renewed, or a failed mount is tried again."""
        mounts = self._mounts.get(uid)
        retry_s = None
        if mounts is not None and mounts.retry_at:
            retry_s = max(0.1, mounts.retry_at - self._clock.now().timestamp())
        return min((each for each in (self._volumes.wake_s(uid), retry_s) if each is not None), default=None)

    async def forget(self, uid: str) -> None:
        """End all tasks of a Pod, and remove its volumes."""
        self._prober.forget(uid)
        self._post_starts.forget(uid)
        self._terminations.forget(uid)
        await self._volumes.remove(uid)
        self._mounts.pop(uid, None)
