"""`SimulatedRuntime`: containers that only exist as records. Annotations of the Pod control them.

Nothing is stored: after a restart the runs continue from the Pods' status.
Concurrency: no tasks. A container that changes later has a timer of the running loop.
"""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sampan.core.pods.simulated import REMEDY
from sampan.core.time import Clock, parse_time
from sampan.node.node_object.pod_addresses import PodAddresses
from sampan.node.pods.images import is_unreachable, not_found
from sampan.node.pods.status_records import is_of, lost, status_records
from sampan.node.runtime import ContainerRecord, ImageError, LogOptions
from sampan.node.sessions import (
    Connection,
    ContainerConfig,
    ContainerSession,
    ContainerStats,
    InterfaceUsage,
    Streams,
    Unsupported,
)
from sampan.node.simulated.annotations import Script, script_of
from sampan.node.views.container import Container
from sampan.node.views.pod import Pod

NAME: Final = "simulated"
_KILLED: Final = 137
_INIT: Final = Script(end_after_s=0.0)
_SIDECAR: Final = Script(stopped_exit_code=0)
_EPHEMERAL: Final = Script()
"""Script of containers that were added after the Pod's start."""


@dataclass(slots=True)
class _Sandbox:
    """Pod on this node."""

    key: str
    scripts: Mapping[str, Script]
    records: dict[str, ContainerRecord] = field(default_factory=dict)
    timers: dict[str, asyncio.TimerHandle] = field(default_factory=dict)
    stopping: set[str] = field(default_factory=set)


class SimulatedRuntime:
    """Runtime of one simulated node."""

    def __init__(
        self, addresses: PodAddresses, clock: Clock, changed: Callable[[str], None], *, host_address: str = ""
    ) -> None:
        """`changed` is called with a Pod's key when one of its containers has changed.

        `host_address`: address of Pods with hostNetwork; empty for that of the node.
        """
        self._addresses = addresses
        self._host_address = host_address
        self._clock = clock
        self._changed = changed
        self._sandboxes: dict[str, _Sandbox] = {}

    @property
    def version(self) -> str:
        """Name and a constant, because the runtime has no version."""
        return f"{NAME}://1.0.0"

    async def resize(self, pod: Pod, names: Sequence[str]) -> None:
        """Do nothing: simulated containers have no resources."""

    @property
    def applies_resources(self) -> bool:
        """False: simulated containers have no resources."""
        return False

    async def recover(self, pods: Sequence[Pod]) -> None:
        """Resume the runs that the Pods' status reports. Running containers of another runtime count as terminated."""
        now = self._clock.now()
        for pod in pods:
            records = list(status_records(pod))
            address = pod.reported.get("podIP")
            # An address that another runtime reported does not belong to this node's pod CIDR.
            is_own = any(is_of(record, NAME) for record in records)
            if address and is_own and not pod.spec.host_network and not pod.has_ended:
                self._addresses.reserve(pod.metadata.uid, address)
            if records:
                sandbox = self._sandbox(pod)
                for each in records:
                    record = each if is_of(each, NAME) else lost(each, now)
                    sandbox.records[record.name] = record
                    self._go_on(pod.metadata.uid, sandbox, record)

    async def run_sandbox(self, pod: Pod) -> Sequence[str]:
        """Return one address; none for a Pod with hostNetwork that has the address of the node."""
        if pod.spec.host_network:
            self._sandbox(pod)
            return (self._host_address,) if self._host_address else ()
        await self._addresses.assigned()
        self._sandbox(pod)
        return (self._addresses.take(pod.metadata.uid),)

    def addresses(self, uid: str) -> Sequence[str]:
        """Return no address: nothing listens at those of simulated Pods."""
        return ()

    async def find_image(self, pod: Pod, image: str) -> str:
        """Return an id; empty if the Pod's annotations or the image's name prevent it.

        The annotations apply only to the images of ordinary containers.
        """
        is_ordinary = any(each.image == image for each in pod.spec.containers)
        script = script_of(pod.metadata.annotations, pod.spec.restart_policy)
        fails_s = script.image_fails_s if is_ordinary else 0.0
        created = pod.metadata.creation_timestamp
        age_s = (self._clock.now() - parse_time(created)).total_seconds() if created else 0.0
        return "" if age_s < fails_s or is_unreachable(image) else f"{NAME}://{image}"

    async def pull_image(self, pod: Pod, image: str) -> str:
        """Return an id. Raises `ImageError` if the Pod's annotations or the image's name prevent it."""
        found = await self.find_image(pod, image)
        if not found:
            raise ImageError("ErrImagePull", not_found(image))
        return found

    async def start_container(
        self, pod: Pod, container: Container, restart_count: int, config: ContainerConfig
    ) -> None:
        """Start a container. If its script ends it at once, it has ended when this returns."""
        sandbox = self._sandbox(pod)
        before = sandbox.records.get(container.name)
        if before is not None and before.restart_count >= restart_count:
            return
        script = sandbox.scripts.get(container.name, _EPHEMERAL).of_start(restart_count)
        uid = pod.metadata.uid
        record = ContainerRecord(
            container.name,
            id=f"{NAME}://{uid}/{container.name}/{restart_count}",
            image_id=f"{NAME}://{container.image}",
            restart_count=restart_count,
            started_at=self._clock.now(),
            ready=script.ready_after_s <= 0,
            previous=None if before is None else replace(before, previous=None),
        )
        if script.end_after_s is not None and script.end_after_s <= 0:
            record = _ended(record, record.started_at, script.exit_code, script.message)
        sandbox.records[container.name] = record
        self._go_on(uid, sandbox, record)

    def containers(self, uid: str) -> Mapping[str, ContainerRecord]:
        """Return the containers by name."""
        sandbox = self._sandboxes.get(uid)
        return {} if sandbox is None else sandbox.records

    async def stop_containers(self, pod: Pod, names: Sequence[str], grace_s: float) -> None:
        """End containers at once, or after the time in the Pod's annotations."""
        sandbox = self._sandboxes.get(pod.metadata.uid)
        if sandbox is None:
            return
        for name in names:
            record = sandbox.records.get(name)
            if record is None or not record.is_running or name in sandbox.stopping:
                continue
            sandbox.stopping.add(name)
            script = sandbox.scripts.get(name, _EPHEMERAL)
            killed = script.stop_after_s > grace_s
            code = _KILLED if killed else script.stopped_exit_code
            self._later(sandbox, name, min(script.stop_after_s, grace_s), code)

    async def stop_sandbox(self, uid: str) -> None:
        """Release the Pod's address."""
        self._addresses.release(uid)

    async def remove_sandbox(self, uid: str) -> None:
        """Remove a Pod."""
        sandbox = self._sandboxes.pop(uid, None)
        self._addresses.release(uid)
        for timer in () if sandbox is None else sandbox.timers.values():
            timer.cancel()

    async def logs(self, pod: Pod, container: str, options: LogOptions) -> AsyncIterator[bytes]:
        """Yield one line for the start and one for the end. Raises `LookupError`."""
        record = self.containers(pod.metadata.uid)[container]
        if options.previous:
            if record.previous is None:
                raise LookupError(f"previous terminated container {container!r} not found")
            record = record.previous
        yield f"{record.id} started. It writes no log, because the pod is simulated: {REMEDY}\n".encode()
        if not record.is_running:
            yield f"{record.id} ended with exit code {record.exit_code}\n".encode()

    async def exec(self, pod: Pod, container: str, command: Sequence[str], streams: Streams) -> ContainerSession:
        """Raise `Unsupported`."""
        raise _no_processes()

    async def attach(self, pod: Pod, container: str, streams: Streams) -> ContainerSession:
        """Raise `Unsupported`."""
        raise _no_processes()

    async def port_forward(self, pod: Pod, port: int) -> Connection:
        """Raise `Unsupported`."""
        raise _no_processes()

    async def usage(self, uid: str) -> Mapping[str, ContainerStats]:
        """Return the usage in the Pod's annotations for each running container."""
        sandbox, now = self._sandboxes.get(uid), self._clock.now()
        if sandbox is None:
            return {}
        found = {}
        for name, record in sandbox.records.items():
            script = sandbox.scripts.get(name, _EPHEMERAL)
            if record.is_running:
                age_s = max(0.0, (now - record.started_at).total_seconds())
                found[name] = ContainerStats(script.cpu_cores * age_s, int(script.memory_bytes))
        return found

    async def network_usage(self, uid: str) -> Sequence[InterfaceUsage]:
        """Return nothing: there is no network."""
        return ()

    def _sandbox(self, pod: Pod) -> _Sandbox:
        sandbox = self._sandboxes.get(pod.metadata.uid)
        if sandbox is None:
            script = script_of(pod.metadata.annotations, pod.spec.restart_policy)
            scripts = {container.name: script for container in pod.spec.containers}
            scripts |= {each.name: _SIDECAR if each.is_sidecar else _INIT for each in pod.spec.init_containers}
            sandbox = self._sandboxes[pod.metadata.uid] = _Sandbox(pod.key, scripts)
        return sandbox

    def _go_on(self, uid: str, sandbox: _Sandbox, record: ContainerRecord) -> None:
        """Set a timer for the next scripted change of a running container."""
        script = sandbox.scripts.get(record.name)
        if script is None or not record.is_running:
            return
        script = script.of_start(record.restart_count)
        age_s = (self._clock.now() - record.started_at).total_seconds()
        ends_in_s = None if script.end_after_s is None else script.end_after_s - age_s
        ready_in_s = None if record.ready else script.ready_after_s - age_s
        if ready_in_s is not None and (ends_in_s is None or ready_in_s < ends_in_s):
            self._timer(sandbox, record.name, ready_in_s, self._ready, uid, sandbox, record.name)
        elif ends_in_s is not None:
            self._timer(
                sandbox, record.name, ends_in_s, self._end, sandbox, record.name, script.exit_code, script.message
            )

    def _later(self, sandbox: _Sandbox, name: str, delay_s: float, exit_code: int) -> None:
        """End a container now or after a delay."""
        if delay_s <= 0:
            self._end(sandbox, name, exit_code)
        else:
            self._timer(sandbox, name, delay_s, self._end, sandbox, name, exit_code)

    def _timer(
        self, sandbox: _Sandbox, name: str, delay_s: float, callback: Callable[..., None], *arguments: object
    ) -> None:
        before = sandbox.timers.pop(name, None)
        if before is not None:
            before.cancel()
        loop = asyncio.get_running_loop()
        sandbox.timers[name] = loop.call_later(max(0.0, delay_s), callback, *arguments)

    def _ready(self, uid: str, sandbox: _Sandbox, name: str) -> None:
        record = sandbox.records[name] = replace(sandbox.records[name], ready=True)
        self._go_on(uid, sandbox, record)
        self._changed(sandbox.key)

    def _end(self, sandbox: _Sandbox, name: str, exit_code: int, message: str = "") -> None:
        timer = sandbox.timers.pop(name, None)
        if timer is not None:
            timer.cancel()
        sandbox.records[name] = _ended(sandbox.records[name], self._clock.now(), exit_code, message)
        self._changed(sandbox.key)


def _no_processes() -> Unsupported:
    return Unsupported(f"exec, attach and port-forward are not supported, because the pod is simulated: {REMEDY}")


def _ended(record: ContainerRecord, at: dt.datetime, exit_code: int, message: str = "") -> ContainerRecord:
    reason = "Completed" if exit_code == 0 else "Error"
    return replace(
        record, ready=False, started=False, finished_at=at, exit_code=exit_code, reason=reason, message=message
    )
