"""`PodWorker`: brings the containers of a Pod closer to their desired state, and reports the result to the agent.

Concurrency: the agent calls it for one Pod at a time. It has no tasks.
Source: kubernetes pkg/kubelet/kubelet.go `SyncPod`, pkg/kubelet/kuberuntime/kuberuntime_manager.go (1.36).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from sampan.core.time import Clock
from sampan.node.containers.support import NOT_CREATED, Configs, ContainerSupport, Records
from sampan.node.environment.fields import PodPlace
from sampan.node.node_events import NodeEvents
from sampan.node.node_home import NodeHome
from sampan.node.pods.images import ImageManager
from sampan.node.pods.plan import PodActions, plan
from sampan.node.pods.resizing import Resizes
from sampan.node.pods.status import WaitingReason
from sampan.node.runtime import NotCreated, SandboxError
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod

CREATE_RETRY_S: Final = 5.0
"""Wait after a container could not be created."""
_IMAGE_REASONS: Final = ("ErrImagePull", "ImagePullBackOff")


@dataclass(frozen=True, slots=True)
class Synced:
    """Result of a sync."""

    plan: PodActions
    records: Records
    addresses: Sequence[str]
    waiting: Mapping[str, WaitingReason]
    wake_s: float | None
    """Seconds until the next sync, if nothing changes before that."""
    has_sandbox: bool = True
    """False if the Pod's sandbox could not be created."""


@dataclass(slots=True)
class _State:
    """State of one Pod between syncs."""

    waiting: dict[str, WaitingReason] = field(default_factory=dict)
    retries: dict[str, float] = field(default_factory=dict)
    """Time of the next attempt for containers that could not be created, in seconds since 1970."""
    backing_off: set[str] = field(default_factory=set)
    """Containers whose restart backoff was reported as an event."""


class PodWorker:
    """Syncs the Pods of all nodes of this process."""

    def __init__(
        self, support: ContainerSupport, images: ImageManager, *, events: NodeEvents | None, clock: Clock
    ) -> None:
        """`events`: None to report only what `images` reports."""
        self._support = support
        self._images = images
        self._events = events
        self._clock = clock
        self.resizes = Resizes(events)
        self._states: dict[str, _State] = {}

    def records(self, pod: Pod, home: NodeHome) -> Records:
        """Return the Pod's containers, with the results of probes and hooks."""
        uid = pod.metadata.uid
        return self.resizes.marked(uid, self._support.applied(uid, home.runtime.containers(uid)))

    async def sync(self, pod: Pod, home: NodeHome) -> Synced:
        """Start and stop all containers that can be started or stopped now."""
        uid = pod.metadata.uid
        state = self._states.setdefault(uid, _State())
        try:
            addresses = await home.runtime.run_sandbox(pod)
        except SandboxError as error:
            return self._without_sandbox(pod, home, error)
        place = PodPlace(pod, home.host_ips, tuple(addresses) or home.host_ips, home.allocatable)
        has_volumes = await self._support.mount(place)
        # Before the plan: containers whose resize needs a restart must have ended when the starts are computed.
        restarts = await self.resizes.apply(pod, home, self.records(pod, home))
        if restarts:
            await self._support.stop(home.runtime, place, restarts, _grace_s(pod))
        next_steps = self._plan(place, home)
        if next_steps.start and has_volumes:
            next_steps = await self._start_all(place, home, state)
        elif not next_steps.start:
            state.waiting.clear()
        # After the starts, so that a failed liveness probe does not delay other containers.
        self._support.stop_unhealthy(home.runtime, place, _grace_s(pod))
        if next_steps.stop:
            await self._support.stop(home.runtime, place, next_steps.stop, _grace_s(pod))
        self._report_backoff(pod, state, next_steps)
        records = self.records(pod, home)
        waiting = {name: why for name, why in state.waiting.items() if not _runs(records, name)}
        return Synced(next_steps, records, addresses, waiting, self._wake_s(uid, state, next_steps))

    def _without_sandbox(self, pod: Pod, home: NodeHome, error: SandboxError) -> Synced:
        """Report why a Pod has no sandbox. None of its containers can start."""
        if self._events is not None:
            self._events.warning(pod, error.reason, str(error))
        records = self.records(pod, home)
        return Synced(plan(pod, records, self._clock.now()), records, (), {}, error.retry_s, has_sandbox=False)

    async def stop(self, pod: Pod, home: NodeHome, *, grace_s_max: float | None = None) -> bool:
        """Stop all containers of a Pod. Returns whether all have ended.

        `grace_s_max`: limit of the Pod's grace period; None for no limit.
        """
        uid = pod.metadata.uid
        place = PodPlace(pod, home.host_ips, pod_addresses(pod, home), home.allocatable)
        running = _running(self.records(pod, home))
        if running:
            grace_s = _grace_s(pod) if grace_s_max is None else min(grace_s_max, _grace_s(pod))
            # First: a liveness probe that fails during the shutdown must not restart the container.
            self._support.pod_ends(uid)
            await self._support.stop(home.runtime, place, running, grace_s)
            # Simulated containers may have ended already; then no change will wake the agent.
            running = _running(self.records(pod, home))
        if running:
            return False
        self._support.pod_ended(uid)
        return True

    async def unmount(self, pod: Pod) -> None:
        """Unmount the volumes of drivers, after all containers have ended. After an error, the agent calls it again."""
        await self._support.unmount(pod.metadata.uid)

    def recover(self, uids: set[str]) -> None:
        """Clean up the volumes and files of an earlier agent for all Pods except `uids`."""
        self._support.recover(uids)

    def report_refusal(self, pod: Pod, reason: str, message: str, *, warning: bool) -> None:
        """Report as an event why the agent has failed a Pod."""
        if self._events is not None:
            report = self._events.warning if warning else self._events.normal
            report(pod, reason, message)

    async def forget(self, uid: str) -> None:
        """Remove all state of a Pod whose sandbox was removed."""
        self._images.forget(uid)
        self._states.pop(uid, None)
        self.resizes.forget(uid)
        await self._support.forget(uid)

    def _plan(self, place: PodPlace, home: NodeHome) -> PodActions:
        """Plan the next steps from the containers, probes and hooks as they are now."""
        self._support.observe(home.runtime, place)
        return plan(place.pod, self.records(place.pod, home), self._clock.now())

    # ---- starts

    async def _start_all(self, place: PodPlace, home: NodeHome, state: _State) -> PodActions:
        """Start containers one after the other, and plan again after each, until no more can be started now."""
        uid = place.pod.metadata.uid
        configs = await self._support.configs(place)
        tried: set[tuple[str, int]] = set()
        while True:
            # Again after each start: an init container that ended at once allows the next one.
            next_steps = self._plan(place, home)
            left = [each for each in next_steps.start if (each[0].name, each[1]) not in tried]
            if not left or self._support.delays_starts(uid):
                return next_steps
            container, restart_count = left[0]
            # A container that cannot be created remains in the plan. Without this, the loop would try it for ever.
            tried.add((container.name, restart_count))
            await self._start(place, home, configs, state, container=container, restart_count=restart_count)

    async def _start(
        self,
        place: PodPlace,
        home: NodeHome,
        configs: Configs,
        state: _State,
        *,
        container: Container,
        restart_count: int,
    ) -> None:
        """Start a container, or record the reason why it waits."""
        pod, name = place.pod, container.name
        now = self._clock.now().timestamp()
        if name in state.waiting and state.retries.get(name, 0.0) > now:
            return
        waiting = await self._images.ensure(home.runtime, pod, container) or await self._volume_image(
            home, pod, container
        )
        if waiting is None:
            waiting = await self._create(place, home, configs, container=container, restart_count=restart_count)
        if waiting is None:
            state.waiting.pop(name, None)
            state.retries.pop(name, None)
            return
        state.waiting[name] = waiting
        # Images have a separate backoff.
        if waiting.reason not in _IMAGE_REASONS:
            state.retries[name] = now + CREATE_RETRY_S

    async def _volume_image(self, home: NodeHome, pod: Pod, container: Container) -> WaitingReason | None:
        """Find or pull the images of the container's volumes.

        Returns the reason if the container must wait for an image.
        """
        used = {mount.name for mount in container.volume_mounts}
        for volume in pod.spec.volumes:
            if volume.image is None or volume.name not in used:
                continue
            desired = msgspec.structs.replace(
                container, image=volume.image.reference, image_pull_policy=volume.image.pull_policy
            )
            waiting = await self._images.ensure(home.runtime, pod, desired)
            if waiting is not None:
                return waiting
        return None

    async def _create(
        self, place: PodPlace, home: NodeHome, configs: Configs, *, container: Container, restart_count: int
    ) -> WaitingReason | None:
        pod, name, runtime = place.pod, container.name, home.runtime
        try:
            config = await configs.config_of(container)
        except NOT_CREATED as error:
            self._warning(pod, "Failed", f"Error: {error}", name)
            return WaitingReason("CreateContainerConfigError", str(error))
        try:
            await runtime.start_container(pod, container, restart_count, config)
        except NotCreated as error:
            self._warning(pod, "Failed", f"Error: {error}", name)
            return WaitingReason(error.reason, str(error))
        record = runtime.containers(pod.metadata.uid).get(name)
        self._normal(pod, "Created", "Container created", name)
        if record is not None and record.reason in ("StartError", "ContainerCannotRun"):
            self._warning(pod, "Failed", f"Error: {record.message}", name)
            return None
        self._normal(pod, "Started", "Container started", name)
        if record is not None:
            self._support.started(runtime, place, container, record)
        return None

    # ---- events and wake-ups

    def _report_backoff(self, pod: Pod, state: _State, next_steps: PodActions) -> None:
        """Record an event for a delayed restart, once for each ended run."""
        metadata = pod.metadata
        for name in next_steps.backing_off:
            if name not in state.backing_off:
                shown = f"{metadata.name}_{metadata.namespace}({metadata.uid})"
                self._warning(pod, "BackOff", f"Back-off restarting failed container {name} in pod {shown}", name)
        state.backing_off = set(next_steps.backing_off)

    def _wake_s(self, uid: str, state: _State, next_steps: PodActions) -> float | None:
        now = self._clock.now().timestamp()
        times = [next_steps.wake_s, self._support.wake_s(uid), self.resizes.wake_s(uid)]
        if any(why.reason in _IMAGE_REASONS for why in state.waiting.values()):
            times.append(self._images.wake_s(uid))
        # At least 0.1 s, because clocks differ: a wake-up that comes too early would cause another one at once.
        times.extend(max(0.1, state.retries[name] - now) for name in state.waiting if name in state.retries)
        return min((each for each in times if each is not None), default=None)

    def _normal(self, pod: Pod, reason: str, note: str, container: str) -> None:
        if self._events is not None:
            self._events.normal(pod, reason, note, container)

    def _warning(self, pod: Pod, reason: str, note: str, container: str) -> None:
        if self._events is not None:
            self._events.warning(pod, reason, note, container)


def pod_addresses(pod: Pod, home: NodeHome) -> tuple[str, ...]:
    """Return the addresses in a Pod's status; without any, the addresses of its node."""
    return tuple(each["ip"] for each in (pod.reported.get("podIPs") or ())) or home.host_ips


def _running(records: Records) -> list[str]:
    return [name for name, record in records.items() if record.is_running]


def _runs(records: Records, name: str) -> bool:
    record = records.get(name)
    return record is not None and record.is_running


def _grace_s(pod: Pod) -> float:
    """Return the seconds that the Pod's containers have to end."""
    deletion_s = pod.metadata.deletion_grace_period_seconds
    if deletion_s is not None:
        return float(deletion_s)
    spec_s = pod.spec.termination_grace_period_seconds
    return 30.0 if spec_s is None else float(spec_s)
