"""`PodWorker`: has the containers of a Pod run that need images, an environment, volumes, probes and hooks.

It is asked by the agent, once at a time for each Pod, and answers with what is to be told of it.
Source: kubernetes pkg/kubelet/kubelet.go `SyncPod`, pkg/kubelet/kuberuntime/kuberuntime_manager.go (1.36).
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sampan.core.time import Clock
from sampan.node.container_config import ContainerConfigs
from sampan.node.details import DetailedPod
from sampan.node.environment.fields import PodPlace
from sampan.node.environment.services import Service, service_environment
from sampan.node.images import Images
from sampan.node.node_events import NodeEvents
from sampan.node.node_home import NodeHome
from sampan.node.plan import Plan, plan
from sampan.node.pod_status import Waiting
from sampan.node.post_starts import PostStarts
from sampan.node.probes.prober import Prober
from sampan.node.references import Missing, References, Unreadable
from sampan.node.runtime import ContainerRecord
from sampan.node.tasks import Tasks
from sampan.node.terminations import Terminations
from sampan.node.views import Container, Pod
from sampan.node.volumes.mounts import MountedVolume, MountError
from sampan.node.volumes.volumes import MountFailed, Volumes

CREATE_RETRY_S: Final = 5.0
"""When a container is tried again that could not be created."""
MOUNT_RETRY_FIRST_S: Final = 0.5
MOUNT_RETRY_MAX_S: Final = 122.0
_NOT_CREATED: Final = (Missing, Unreadable, MountError, ValueError, OSError)

Records = dict[str, ContainerRecord]


@dataclass(frozen=True, slots=True)
class Synced:
    """What has become of a Pod."""

    plan: Plan
    records: Mapping[str, ContainerRecord]
    addresses: Sequence[str]
    waiting: Mapping[str, Waiting]
    wake_s: float | None
    """When it is to be looked at again, whatever happens."""


@dataclass(slots=True)
class _State:
    """What is remembered of a Pod."""

    waiting: dict[str, Waiting] = field(default_factory=dict)
    retries: dict[str, float] = field(default_factory=dict)
    """When containers are tried again, in seconds since 1970."""
    mount_tries: int = 0
    mount_at: float = 0.0
    backed_off: set[str] = field(default_factory=set)
    """Runs of which it was told that the next one waits."""


class PodWorker:
    """Works for all Pods of this process that are on runtimes which take a config."""

    def __init__(
        self,
        references: References,
        volumes: Volumes,
        *,
        tasks: Tasks,
        events: NodeEvents,
        clock: Clock,
    ) -> None:
        """What is done beside is done by `tasks`; the agent says by `on_change` whom to tell."""
        self._tasks = tasks
        self._references = references
        self._volumes = volumes
        self._events = events
        self._clock = clock
        self._changed: Callable[[str], None] = lambda key: None
        self._services: Callable[[], Awaitable[Sequence[Service]]] = _no_services
        self._images = Images(events, clock)
        self._prober = Prober(tasks, events, self._tell)
        self._post_starts = PostStarts(tasks, events, self._tell)
        self._terminations = Terminations(tasks, events)
        self._states: dict[str, _State] = {}

    def on_change(self, changed: Callable[[str], None]) -> None:
        """Have a Pod looked at again, by its key, when something has changed."""
        self._changed = changed
        self._volumes.on_change(changed)

    def read_services_from(self, services: Callable[[], Awaitable[Sequence[Service]]]) -> None:
        """Have containers told of these Services, which are waited for."""
        self._services = services

    def records(self, pod: DetailedPod, home: NodeHome) -> Records:
        """The containers, with what probes and hooks say of them."""
        uid = pod.metadata.uid
        known = dict(home.runtime.containers(uid))
        return self._prober.applied(uid, self._post_starts.applied(uid, known))

    async def sync(self, pod: DetailedPod, home: NodeHome) -> Synced:
        """Have it run, as far as it goes now."""
        await self._tasks.running()
        state = self._states.setdefault(pod.metadata.uid, _State())
        addresses = await home.runtime.run_sandbox(pod)
        place = PodPlace(pod, home.host_ip, tuple(addresses) or (home.host_ip,), home.allocatable)
        volumes = await self._mount(place, state)
        next_steps = self._look(place, home)
        if next_steps.start and volumes is not None:
            next_steps = await self._start_all(place, home, volumes, state)
        elif not next_steps.start:
            state.waiting.clear()
        self._end_unhealthy(place, home)
        if next_steps.stop:
            self._terminations.begin(home.runtime, place, next_steps.stop, grace_s=_grace_s(pod))
        self._tell_backoff(pod, state, next_steps)
        records = self.records(pod, home)
        waiting = {name: why for name, why in state.waiting.items() if not _runs(records, name)}
        return Synced(next_steps, records, addresses, waiting, self._wake_s(pod.metadata.uid, state, next_steps))

    def stop(self, pod: DetailedPod, home: NodeHome) -> bool:
        """Have all its containers end; whether they have."""
        uid = pod.metadata.uid
        records = self.records(pod, home)
        self._terminations.look(uid, records)
        running = [name for name, record in records.items() if record.is_running]
        if not running:
            self._prober.forget(uid)
            return True
        self._prober.pod_ends(uid)
        place = PodPlace(pod, home.host_ip, pod_addresses(pod, home), home.allocatable)
        self._terminations.begin(home.runtime, place, running, grace_s=_grace_s(pod))
        return False

    def tell_refused(self, pod: DetailedPod, reason: str, message: str, *, warning: bool) -> None:
        """Say why a Pod has failed without having run, or without having ended."""
        tell = self._events.warning if warning else self._events.normal
        tell(pod, reason, message)

    async def forget(self, uid: str) -> None:
        """A Pod is gone, and its containers with it: end what is done for it."""
        self._prober.forget(uid)
        self._post_starts.forget(uid)
        self._terminations.forget(uid)
        self._images.forget(uid)
        self._states.pop(uid, None)
        await self._volumes.remove(uid)

    def _tell(self, key: str) -> None:
        self._changed(key)

    def _look(self, place: PodPlace, home: NodeHome) -> Plan:
        """What is to be done next, from what containers, probes and hooks say now."""
        uid = place.pod.metadata.uid
        known = dict(home.runtime.containers(uid))
        self._terminations.look(uid, known)
        self._prober.look(home.runtime, place, known)
        return plan(place.pod, self.records(place.pod, home), self._clock.now())

    # ---- volumes

    async def _mount(self, place: PodPlace, state: _State) -> Mapping[str, MountedVolume] | None:
        """The volumes; None while there are not all."""
        try:
            volumes = await self._volumes.mount(place)
        except MountFailed as error:
            for name, fault in error.faults.items():
                text = f'MountVolume.SetUp failed for volume "{name}" : {fault}'
                self._events.warning(place.pod, "FailedMount", text)
            wait_s = min(MOUNT_RETRY_MAX_S, MOUNT_RETRY_FIRST_S * 2 ** min(state.mount_tries, 10))
            state.mount_tries += 1
            state.mount_at = self._clock.now().timestamp() + wait_s
            return None
        state.mount_tries, state.mount_at = 0, 0.0
        return volumes

    # ---- starts

    async def _start_all(
        self, place: PodPlace, home: NodeHome, volumes: Mapping[str, MountedVolume], state: _State
    ) -> Plan:
        """Start what is to be started, one after the other, until nothing more can be."""
        uid = place.pod.metadata.uid
        links = place.pod.details.enable_service_links
        configs = ContainerConfigs(
            place,
            volumes=volumes,
            services=service_environment(await self._services(), place.pod.metadata.namespace, links=links),
            references=self._references,
            copies=self._volumes.copies_of(uid, ""),
        )
        tried: set[tuple[str, int]] = set()
        while True:
            next_steps = self._look(place, home)
            left = [each for each in next_steps.start if (each[0].name, each[1]) not in tried]
            if not left or self._post_starts.runs(uid):
                return next_steps
            container, restart_count = left[0]
            tried.add((container.name, restart_count))
            await self._start(place, home, configs, state, container=container, restart_count=restart_count)

    async def _start(
        self,
        place: PodPlace,
        home: NodeHome,
        configs: ContainerConfigs,
        state: _State,
        *,
        container: Container,
        restart_count: int,
    ) -> None:
        """Start a container, or note what it waits for."""
        pod, name = place.pod, container.name
        now = self._clock.now().timestamp()
        if name in state.waiting and state.retries.get(name, 0.0) > now:
            return
        waiting = await self._images.ensure(home.runtime, pod, container)
        if waiting is None:
            waiting = await self._create(place, home, configs, container=container, restart_count=restart_count)
        if waiting is None:
            state.waiting.pop(name, None)
            state.retries.pop(name, None)
            return
        state.waiting[name] = waiting
        if not waiting.reason.startswith(("ImagePullBackOff", "ErrImagePull")):
            state.retries[name] = now + CREATE_RETRY_S

    async def _create(
        self, place: PodPlace, home: NodeHome, configs: ContainerConfigs, *, container: Container, restart_count: int
    ) -> Waiting | None:
        pod, name = place.pod, container.name
        details = pod.details.container(name)
        try:
            config = await configs.config_of(details)
        except _NOT_CREATED as error:
            self._events.warning(pod, "Failed", f"Error: {error}", name)
            return Waiting("CreateContainerConfigError", str(error))
        await home.runtime.start_container(pod, container, restart_count, config)
        record = home.runtime.containers(pod.metadata.uid).get(name)
        self._events.normal(pod, "Created", "Container created", name)
        if record is not None and record.reason in ("StartError", "ContainerCannotRun"):
            self._events.warning(pod, "Failed", f"Error: {record.message}", name)
            return None
        self._events.normal(pod, "Started", "Container started", name)
        if record is not None:
            self._post_starts.begin(home.runtime, place, details, record)
        return None

    # ---- ends

    def _end_unhealthy(self, place: PodPlace, home: NodeHome) -> None:
        """End containers whose probe or hook has failed."""
        pod, uid = place.pod, place.pod.metadata.uid
        for name in self._post_starts.failed(uid):
            self._terminations.begin(home.runtime, place, [name], grace_s=_grace_s(pod), message="FailedPostStartHook")
        for name in home.runtime.containers(uid):
            kind = self._prober.failed(uid, name)
            if kind is None:
                continue
            details = pod.details.container(name)
            probe = details.liveness_probe if kind == "Liveness" else details.startup_probe
            own_s = None if probe is None else probe.termination_grace_period_seconds
            init = any(each.name == name for each in pod.spec.init_containers)
            message = f"{'Init container' if init else 'Container'} {name} failed {kind.lower()} probe"
            if pod.spec.restart_policy != "Never" and not init:
                message += ", will be restarted"
            grace_s = _grace_s(pod) if own_s is None else float(own_s)
            self._terminations.begin(home.runtime, place, [name], grace_s=grace_s, message=message)

    def _tell_backoff(self, pod: DetailedPod, state: _State, next_steps: Plan) -> None:
        """Say, once for each run, that the next one waits."""
        for name in next_steps.backing_off:
            metadata = pod.metadata
            shown = f"{metadata.name}_{metadata.namespace}({metadata.uid})"
            if name not in state.backed_off:
                text = f"Back-off restarting failed container {name} in pod {shown}"
                self._events.warning(pod, "BackOff", text, name)
        state.backed_off = set(next_steps.backing_off)

    def _wake_s(self, uid: str, state: _State, next_steps: Plan) -> float | None:
        now = self._clock.now().timestamp()
        times = [next_steps.wake_s, self._volumes.wake_s(uid)]
        if any(why.reason in ("ErrImagePull", "ImagePullBackOff") for why in state.waiting.values()):
            times.append(self._images.wake_s(uid))
        if state.mount_at:
            times.append(max(0.1, state.mount_at - now))
        times.extend(max(0.1, state.retries[name] - now) for name in state.waiting if name in state.retries)
        return min((each for each in times if each is not None), default=None)


async def _no_services() -> Sequence[Service]:
    return ()


def pod_addresses(pod: Pod, home: NodeHome) -> tuple[str, ...]:
    """The addresses that a Pod has, or else its node's."""
    return tuple(each["ip"] for each in pod.status.get("podIPs", ())) or (home.host_ip,)


def _runs(records: Mapping[str, ContainerRecord], name: str) -> bool:
    record = records.get(name)
    return record is not None and record.is_running


def _grace_s(pod: DetailedPod) -> float:
    """How long its containers have to end."""
    deletion_s = pod.metadata.deletion_grace_period_seconds
    if deletion_s is not None:
        return float(deletion_s)
    spec_s = pod.details.termination_grace_period_seconds
    return 30.0 if spec_s is None else float(spec_s)
