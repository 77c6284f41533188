"""`Prober`: runs the probes of running containers, and tracks which containers are started, are ready, or must be
restarted.

Concurrency: one task for each probe of a running container, from its start until it ends.
Source: kubernetes pkg/kubelet/prober/{prober_manager,worker,prober}.go (1.36).
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sampan.core.pods.expansion import expand, from_mappings
from sampan.node.commands import run_in_container
from sampan.node.environment.fields import PodPlace
from sampan.node.node_events import NodeEvents
from sampan.node.probes.grpc import probe_grpc
from sampan.node.probes.http import http_get_of, probe_http
from sampan.node.probes.ports import resolve_port
from sampan.node.probes.result import ProbeError, ProbeResult
from sampan.node.probes.tcp import probe_tcp
from sampan.node.runtime import ContainerRecord, Runtime
from sampan.node.sessions import Unsupported
from sampan.node.tasks import Tasks
from sampan.node.views.container import Container, Probe
from sampan.node.views.pod import Pod

Kind = Literal["Startup", "Readiness", "Liveness"]
_TRIES = 3


@dataclass(slots=True)
class ProbeResults:
    """Results of the probes of one run of a container."""

    id: str
    started: bool
    """True if the startup probe has succeeded, or if the container has none."""
    ready: bool
    """True if the readiness probe succeeds, or if the container has none."""
    failed: Kind | None = None
    """Failed probe that is the reason to stop the container; None if there is none."""
    tasks: dict[Kind, asyncio.Task[None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Probed:
    """One run of a container, with everything that its probes need."""

    runtime: Runtime
    place: PodPlace
    container: Container
    record: ContainerRecord
    results: ProbeResults


class Prober:
    """Probes of all Pods of this process."""

    def __init__(self, tasks: Tasks, events: NodeEvents, changed: Callable[[str], None]) -> None:
        """`changed` is called with a Pod's key when the result of a probe changes."""
        self._tasks = tasks
        self._events = events
        self._changed = changed
        self._results: dict[str, dict[str, ProbeResults]] = {}

    def observe(self, runtime: Runtime, place: PodPlace, records: dict[str, ContainerRecord]) -> None:
        """Start the probes of containers that have started, and end those of containers that have ended."""
        uid = place.pod.metadata.uid
        for container in (*place.pod.spec.init_containers, *place.pod.spec.containers):
            if not (container.startup_probe or container.readiness_probe or container.liveness_probe):
                continue
            known = self._results.setdefault(uid, {})
            record = records.get(container.name)
            results = known.get(container.name)
            if results is not None and (record is None or results.id != record.id or not record.is_running):
                _cancel(results)
                del known[container.name]
                results = None
            if results is None and record is not None and record.is_running:
                # A container that outlives its agent stays ready until a probe of the next agent fails.
                before = _status_of(place.pod, record)
                results = ProbeResults(
                    record.id,
                    started=container.startup_probe is None or bool(before.get("started")),
                    ready=container.readiness_probe is None or bool(before.get("ready")),
                )
                known[container.name] = results
                self._begin(_Probed(runtime, place, container, record, results))

    def applied(self, uid: str, records: dict[str, ContainerRecord]) -> dict[str, ContainerRecord]:
        """Return the records with the results of the probes."""
        known = self._results.get(uid)
        if not known:
            return records
        applied = dict(records)
        for name, results in known.items():
            record = records.get(name)
            if record is not None and record.id == results.id:
                started = record.started and results.started
                applied[name] = replace(record, started=started, ready=started and record.ready and results.ready)
        return applied

    def failed(self, uid: str, container: str) -> Kind | None:
        """Return the failed probe that is the reason to stop a container; None if there is none."""
        results = self._results.get(uid, {}).get(container)
        return None if results is None else results.failed

    def pod_ends(self, uid: str) -> None:
        """End startup and liveness probes of a Pod that is being stopped. Readiness probes continue."""
        for results in self._results.get(uid, {}).values():
            results.failed = None
            for kind in ("Startup", "Liveness"):
                task = results.tasks.pop(kind, None)
                if task is not None:
                    task.cancel()

    def forget(self, uid: str) -> None:
        """End all probes of a Pod."""
        for results in self._results.pop(uid, {}).values():
            _cancel(results)

    def _begin(self, probed: _Probed) -> None:
        if probed.container.startup_probe is not None:
            self._task(probed, "Startup", probed.container.startup_probe)
        else:
            self._begin_others(probed)

    def _begin_others(self, probed: _Probed) -> None:
        if probed.container.readiness_probe is not None:
            self._task(probed, "Readiness", probed.container.readiness_probe)
        if probed.container.liveness_probe is not None:
            self._task(probed, "Liveness", probed.container.liveness_probe)

    def _task(self, probed: _Probed, kind: Kind, probe: Probe) -> None:
        name = f"{kind} probe of {probed.place.pod.key}/{probed.container.name}"
        probed.results.tasks[kind] = self._tasks.begin(self._probe(probed, kind, probe), name)

    async def _probe(self, probed: _Probed, kind: Kind, probe: Probe) -> None:
        """Check the container periodically, until a result is final."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(probe.initial_delay_seconds)
        last: bool | None = None
        run = 0
        while True:
            began = loop.time()
            outcome = await self._check(probed, kind, probe)
            if outcome is not None:
                run = run + 1 if outcome.is_success == last else 1
                last = outcome.is_success
                threshold = probe.success_threshold if last else probe.failure_threshold
                if run >= (threshold or 1) and self._decided(probed, kind, last):
                    return
            await asyncio.sleep(max(0.0, began + (probe.period_seconds or 10) - loop.time()))

    async def _check(self, probed: _Probed, kind: Kind, probe: Probe) -> ProbeResult | None:
        """Check once. Returns None if the check could not be made."""
        pod, container = probed.place.pod, probed.container
        fault: ProbeError | None = None
        for _ in range(_TRIES):
            try:
                outcome = await _check(probed.runtime, probed.place, container, probe)
            except ProbeError as error:
                fault = error
                continue
            if outcome.result == "failure":
                self._events.warning(pod, "Unhealthy", f"{kind} probe failed: {outcome.output}", container.name)
            elif outcome.result == "warning":
                self._events.warning(pod, "ProbeWarning", f"{kind} probe warning: {outcome.output}", container.name)
            return outcome
        text = f"{kind} probe errored and resulted in unknown state: {fault}"
        self._events.warning(pod, "Unhealthy", text, container.name)
        return None

    def _decided(self, probed: _Probed, kind: Kind, success: bool) -> bool:
        """Apply a result that has reached its threshold. Returns whether the probe can end."""
        results, key = probed.results, probed.place.pod.key
        if kind == "Readiness":
            if results.ready != success:
                results.ready = success
                self._changed(key)
            return False
        if not success:
            results.failed = kind
            self._changed(key)
            return True
        if kind == "Startup":
            results.started = True
            self._begin_others(probed)
            self._changed(key)
            return True
        return False


def _status_of(pod: Pod, record: ContainerRecord) -> Mapping[str, Any]:
    """Return the container status of exactly this run from the Pod; empty if the Pod has none."""
    status = pod.status
    found = (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))
    return next((each for each in found if each.get("containerID") == record.id), {})


def _cancel(results: ProbeResults) -> None:
    for task in results.tasks.values():
        task.cancel()


async def _check(runtime: Runtime, place: PodPlace, container: Container, probe: Probe) -> ProbeResult:
    """Check a container once, with the action of its probe. Raises `ProbeError`."""
    timeout_s = float(probe.timeout_seconds or 1)
    pod_ip = next(iter(place.addresses or place.host_ips))
    try:
        if probe.exec is not None:
            return await _exec(runtime, place, container, probe.exec.command, timeout_s)
        if probe.http_get is not None:
            return await probe_http(http_get_of(probe.http_get, container, pod_ip), timeout_s)
        if probe.tcp_socket is not None:
            port = resolve_port(probe.tcp_socket.port, container)
            return await probe_tcp(probe.tcp_socket.host or pod_ip, port, timeout_s)
        if probe.grpc is not None:
            return await probe_grpc(pod_ip, probe.grpc.port, probe.grpc.service, timeout_s)
    except (LookupError, Unsupported, OSError, ValueError) as error:
        raise ProbeError(str(error)) from error
    raise ProbeError(f"missing probe handler for {place.pod.key}:{container.name}")


async def _exec(
    runtime: Runtime, place: PodPlace, container: Container, command: list[str], timeout_s: float
) -> ProbeResult:
    # Only variables with a literal value are expanded, so that a probe does not read ConfigMaps each time.
    value_of = from_mappings({each.name: each.value for each in container.env})
    expanded = [expand(word, value_of) for word in command]
    try:
        async with asyncio.timeout(timeout_s):
            code, output = await run_in_container(runtime, place.pod, container.name, expanded)
    except TimeoutError:
        text = f'command timed out: "{" ".join(expanded)}" timed out after {timeout_s:g}s'
        return ProbeResult("failure", text)
    return ProbeResult("success" if code == 0 else "failure", output)
