"""`Resizes`: changes the resources of running containers (`pods/resize`).

The spec contains the desired resources. The agent allocates them if the node has room for them. Until then, the
containers keep their resources, and a condition contains the reason. Allocated resources are applied by the runtime, or
by a restart of the container if its `resizePolicy` requires that.

Concurrency: the agent calls it for one Pod at a time. It has no tasks.
Guarantees: after a restart of the agent, resources of the Pod's status count as allocated, so no resize is lost.
Source: kubelet pkg/kubelet/allocation/allocation_manager.go, pkg/kubelet/kuberuntime/kuberuntime_manager.go
`doPodResizeAction`, pkg/kubelet/events/resize.go (1.36).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import msgspec

from sampan.core.numbers.resource_amounts import amounts
from sampan.node.admission.checks import PodRejection
from sampan.node.node_events import NodeEvents
from sampan.node.node_home import NodeHome
from sampan.node.runtime import ContainerRecord, ResizeError
from sampan.node.views.container import Container, ResourceRequirements
from sampan.node.views.pod import Pod
from sampan.resource.view import view_of

PENDING: Final = "PodResizePending"
IN_PROGRESS: Final = "PodResizeInProgress"
DEFERRED: Final = "Deferred"
INFEASIBLE: Final = "Infeasible"
PENDING_RETRY_S: Final = 180.0
ERROR_RETRY_S: Final = 10.0
_RESIZABLE: Final = ("cpu", "memory")

Admit = Callable[[Pod], PodRejection | None]
"""Counts a Pod with the resources of its spec, or returns the reason why its node has no room for them."""


@dataclass(frozen=True, slots=True)
class ResizeCondition:
    """Condition of a Pod's status during a resize."""

    type: str
    generation: int
    reason: str = ""
    message: str = ""


@dataclass(slots=True)
class _State:
    allocated: dict[str, ResourceRequirements]
    applied: dict[str, ResourceRequirements]
    """Resources of the running containers."""
    pending: ResizeCondition | None = None
    in_progress: ResizeCondition | None = None
    restarting: dict[str, int] = field(default_factory=dict)
    """Containers that are restarted with new resources, by name: the restart count of the run that ends."""


class Resizes:
    """Resizes of all Pods of an agent."""

    def __init__(self, events: NodeEvents | None) -> None:
        """`events`: None to report nothing."""
        self._events = events
        self._states: dict[str, _State] = {}

    def allocate(self, pod: Pod, admit: Admit) -> Pod:
        """Return the Pod with its allocated resources, which are those of the spec if the node has room for them."""
        state = self._states.get(pod.metadata.uid)
        if state is None:
            state = self._states[pod.metadata.uid] = _first(pod)
        desired = {each.name: each.resources for each in _containers(pod)}
        if all(_same(desired[name], state.allocated.get(name, desired[name])) for name in desired):
            state.allocated = desired
            state.pending = None
            return pod
        refusal = admit(pod)
        if refusal is None:
            state.allocated = desired
            state.pending = None
            state.in_progress = ResizeCondition(IN_PROGRESS, pod.metadata.generation or 1)
            self._report(pod, "ResizeStarted", "Pod resize started", warning=False)
            return pod
        pending = ResizeCondition(PENDING, pod.metadata.generation or 1, refusal.reason, refusal.message)
        if pending != state.pending:
            state.pending = pending
            reason = f"Resize{refusal.reason}"
            self._report(pod, reason, f"Pod resize {refusal.reason}", error=refusal.message)
        return _with_resources(pod, state.allocated)

    async def apply(self, pod: Pod, home: NodeHome, records: Mapping[str, ContainerRecord]) -> Sequence[str]:
        """Apply allocated resources to running containers.

        Returns the containers that must be restarted to use them.
        """
        state = self._states[pod.metadata.uid]
        changed = _changed(pod, state, records)
        if not changed and state.in_progress is None:
            return ()
        restarts = [each.name for each in changed if _needs_restart(each, state.applied[each.name])]
        for name in restarts:
            state.restarting.setdefault(name, records[name].restart_count)
        try:
            await home.runtime.resize(pod, [each.name for each in changed if each.name not in restarts])
        except ResizeError as error:
            self._failed(pod, state, str(error))
            return restarts
        state.applied.update({each.name: each.resources for each in changed if each.name not in restarts})
        if not restarts and not state.restarting:
            self._completed(pod, state)
        return restarts

    def marked(self, uid: str, records: Mapping[str, ContainerRecord]) -> Mapping[str, ContainerRecord]:
        """Return the records. Mark those of containers that end only to start again with new resources."""
        state = self._states.get(uid)
        if state is None or not state.restarting:
            return records
        return {
            name: replace(record, restarts=True) if state.restarting.get(name) == record.restart_count else record
            for name, record in records.items()
        }

    def resources(self, uid: str) -> Mapping[str, ResourceRequirements] | None:
        """Return the resources of the containers of a Pod; None for an unknown Pod."""
        state = self._states.get(uid)
        return None if state is None else {**state.allocated, **state.applied}

    def allocated(self, uid: str) -> Mapping[str, ResourceRequirements]:
        """Return the allocated resources of a Pod's containers."""
        state = self._states.get(uid)
        return {} if state is None else state.allocated

    def conditions(self, uid: str) -> Sequence[ResizeCondition]:
        """Return the conditions of a Pod's status."""
        state = self._states.get(uid)
        return () if state is None else [each for each in (state.pending, state.in_progress) if each is not None]

    def wake_s(self, uid: str) -> float | None:
        """Return in how many seconds a resize is tried again."""
        state = self._states.get(uid)
        if state is None:
            return None
        if state.in_progress is not None and state.in_progress.reason:
            return ERROR_RETRY_S
        deferred = state.pending is not None and state.pending.reason == DEFERRED
        return PENDING_RETRY_S if deferred else None

    def deferred(self) -> list[str]:
        """Return the uids of Pods that wait for room on their node."""
        found = self._states.items()
        return [uid for uid, each in found if each.pending is not None and each.pending.reason == DEFERRED]

    def forget(self, uid: str) -> None:
        """Forget a Pod."""
        self._states.pop(uid, None)

    # ---- reports

    def _failed(self, pod: Pod, state: _State, message: str) -> None:
        failed = ResizeCondition(IN_PROGRESS, pod.metadata.generation or 1, "Error", message)
        if failed != state.in_progress:
            state.in_progress = failed
            self._report(pod, "ResizeError", "Pod resize error", error=message)

    def _completed(self, pod: Pod, state: _State) -> None:
        if state.in_progress is not None:
            state.in_progress = None
            self._report(pod, "ResizeCompleted", "Pod resize completed", warning=False)

    def _report(self, pod: Pod, reason: str, text: str, *, error: str = "", warning: bool = True) -> None:
        if self._events is None:
            return
        summary: dict[str, Any] = {}
        for name, containers in (("initContainers", pod.spec.init_containers), ("containers", pod.spec.containers)):
            if containers:
                summary[name] = [{"name": each.name, "resources": _shown(each.resources)} for each in containers]
        summary["generation"] = pod.metadata.generation or 1
        if error:
            summary["error"] = error
        report = self._events.warning if warning else self._events.normal
        report(pod, reason, f"{text}: {json.dumps(summary, separators=(',', ':'))}")


def _first(pod: Pod) -> _State:
    """Return the state of a Pod that the agent sees for the first time: its status contains the resources that were
    allocated before.
    """
    reported = {}
    for each in (*(pod.reported.get("initContainerStatuses") or ()), *(pod.reported.get("containerStatuses") or ())):
        if each.get("resources"):
            reported[each["name"]] = view_of(each["resources"], ResourceRequirements)
    allocated = {each.name: reported.get(each.name, each.resources) for each in _containers(pod)}
    state = _State(allocated, dict(allocated))
    conditions = {each["type"] for each in (pod.reported.get("conditions") or ())}
    if IN_PROGRESS in conditions:
        state.in_progress = ResizeCondition(IN_PROGRESS, pod.metadata.generation or 1)
    return state


def _changed(pod: Pod, state: _State, records: Mapping[str, ContainerRecord]) -> list[Container]:
    """Return the running containers whose resources differ from the allocated ones.

    A container that starts later gets the allocated ones.
    """
    found = []
    for container in _containers(pod):
        record = records.get(container.name)
        ended_run = state.restarting.get(container.name)
        if record is not None and record.is_running and (ended_run is None or record.restart_count == ended_run):
            if not _same(state.applied.get(container.name, container.resources), container.resources):
                found.append(container)
            continue
        if record is not None and record.is_running:
            del state.restarting[container.name]
        state.applied[container.name] = container.resources
    return found


def _needs_restart(container: Container, applied: ResourceRequirements) -> bool:
    """Return whether the container's policy for a changed resource is a restart."""
    restarts = {each.resource_name for each in container.resize_policy if each.restart_policy == "RestartContainer"}
    new, old = container.resources, applied
    return any(
        name in restarts and _of(kind, new, name) != _of(kind, old, name)
        for name in _RESIZABLE
        for kind in ("requests", "limits")
    )


def _of(kind: str, resources: ResourceRequirements, name: str) -> int | None:
    return amounts(getattr(resources, kind)).get(name)


def _same(one: ResourceRequirements, other: ResourceRequirements) -> bool:
    return all(_of(kind, one, name) == _of(kind, other, name) for name in _RESIZABLE for kind in ("requests", "limits"))


def _containers(pod: Pod) -> list[Container]:
    return [*pod.spec.init_containers, *pod.spec.containers]


def _with_resources(pod: Pod, resources: Mapping[str, ResourceRequirements]) -> Pod:
    """Return a copy of a Pod whose containers have these resources."""

    def copied(containers: list[Container]) -> list[Container]:
        return [
            msgspec.structs.replace(each, resources=resources.get(each.name, each.resources)) for each in containers
        ]

    spec = msgspec.structs.replace(
        pod.spec, containers=copied(pod.spec.containers), init_containers=copied(pod.spec.init_containers)
    )
    return msgspec.structs.replace(pod, spec=spec)


def _shown(resources: ResourceRequirements) -> dict[str, Any]:
    found = {"limits": resources.limits, "requests": resources.requests}
    return {name: value for name, value in found.items() if value}
