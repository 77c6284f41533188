"""`Terminations`: stops containers: preStop hook, then a wait for containers that must end first, then TERM, then KILL.

All of this happens within the grace period.

Concurrency: one task for each container that is being stopped, until the runtime was called.
Source: kubernetes pkg/kubelet/kuberuntime/kuberuntime_container.go `killContainer`,
kuberuntime_termination_order.go (1.36).
"""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sampan.node.containers.hooks import HookFailed, run_hook
from sampan.node.environment.fields import PodPlace
from sampan.node.node_events import NodeEvents
from sampan.node.runtime import ContainerRecord, Runtime
from sampan.node.tasks import Tasks
from sampan.node.views.container import Container

GRACE_S_MIN: Final = 2.0
"""Minimum time between TERM and KILL, even if the grace period has ended."""

_log = logging.getLogger("sampan.node")


@dataclass(slots=True)
class _Kill:
    """Container that is being stopped."""

    id: str
    deadline: float
    """Deadline in the time of the event loop."""
    runtime: Runtime
    place: PodPlace
    container: Container
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    before: Sequence["_Kill"] = ()
    """Containers that must end before this one is stopped."""
    timeout: asyncio.Timeout | None = None
    stop_sent: bool = False
    """True if the runtime was called to stop the container."""
    task: asyncio.Task[None] | None = None


class Terminations:
    """Containers of this process's Pods that are being stopped."""

    def __init__(self, tasks: Tasks, events: NodeEvents) -> None:
        self._tasks = tasks
        self._events = events
        self._kills: dict[str, dict[str, _Kill]] = {}

    def begin(
        self,
        runtime: Runtime,
        place: PodPlace,
        names: Collection[str],
        *,
        grace_s: float,
        message: str = "",
    ) -> None:
        """Start to stop running containers. Sidecars are stopped after the other containers, in reverse order.

        For a container that is being stopped already, `grace_s` can only shorten its time.
        """
        uid = place.pod.metadata.uid
        records = runtime.containers(uid)
        kills = self._kills.setdefault(uid, {})
        deadline = asyncio.get_running_loop().time() + grace_s
        before: list[_Kill] = []
        for name in _in_order(place, names):
            record = records.get(name)
            if record is None or not record.is_running:
                continue
            kill = kills.get(name)
            # A restarted container has the same name and another ID: the old shutdown does not concern it.
            if kill is None or kill.id != record.id:
                kill = _Kill(record.id, deadline, runtime, place, place.pod.spec.container(name))
                if _is_sidecar(place, name):
                    # The order of `_in_order` puts everything that uses a sidecar before it in this list.
                    kill.before = tuple(before)
                kills[name] = kill
                note = message or f"Stopping container {name}"
                self._events.normal(place.pod, "Killing", note, name)
                kill.task = self._tasks.begin(self._end(kill), f"end of {place.pod.key}/{name}")
            elif deadline < kill.deadline:
                self._hasten(kill, deadline)
            before.append(kill)

    def observe(self, uid: str, records: Mapping[str, ContainerRecord]) -> None:
        """Finish the shutdown of containers that have ended."""
        kills = self._kills.get(uid)
        for name, kill in list(kills.items()) if kills else ():
            record = records.get(name)
            if record is None or record.id != kill.id or not record.is_running:
                kill.ended.set()
                # After the call of the runtime the task ends by itself. Before, it waits for a hook that is pointless
                # now.
                if kill.task is not None and not kill.stop_sent:
                    kill.task.cancel()
                if kills is not None:
                    del kills[name]

    def forget(self, uid: str) -> None:
        """Cancel the shutdowns of a Pod that no longer exists."""
        for kill in self._kills.pop(uid, {}).values():
            if kill.task is not None:
                kill.task.cancel()

    async def _end(self, kill: _Kill) -> None:
        """Run the hook and wait for containers that must end first, until the deadline. Then stop the container."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(kill.deadline) as kill.timeout:
                handler = kill.container.lifecycle.pre_stop
                # With a grace period of 0 no hook runs, as in Kubernetes.
                if handler is not None and kill.deadline > loop.time():
                    await self._pre_stop(kill)
                for each in kill.before:
                    await each.ended.wait()
        except TimeoutError:
            pass  # The grace period is over.
        # Before the await, so that `_hasten` calls the runtime again instead of moving a timeout that has no effect
        # now.
        kill.timeout, kill.stop_sent = None, True
        await self._stop(kill)

    async def _pre_stop(self, kill: _Kill) -> None:
        handler = kill.container.lifecycle.pre_stop
        assert handler is not None
        try:
            await run_hook(kill.runtime, kill.place, kill.container, handler)
        except HookFailed as error:
            _log.warning("preStop hook of %s/%s failed: %s", kill.place.pod.key, kill.container.name, error)
            self._events.warning(kill.place.pod, "FailedPreStopHook", "PreStopHook failed", kill.container.name)

    async def _stop(self, kill: _Kill) -> None:
        left_s = max(GRACE_S_MIN, kill.deadline - asyncio.get_running_loop().time())
        await kill.runtime.stop_containers(kill.place.pod, [kill.container.name], left_s)

    def _hasten(self, kill: _Kill, deadline: float) -> None:
        kill.deadline = deadline
        if kill.timeout is not None:
            # The task is still in the hook or waits for others: an earlier deadline takes effect at once.
            kill.timeout.reschedule(deadline)
        elif kill.stop_sent:
            name = f"earlier end of {kill.place.pod.key}/{kill.container.name}"
            kill.task = self._tasks.begin(self._stop(kill), name)


def _is_sidecar(place: PodPlace, name: str) -> bool:
    return any(each.name == name for each in place.pod.spec.init_containers)


def _in_order(place: PodPlace, names: Collection[str]) -> list[str]:
    """Return containers first, then init containers in reverse order."""
    inits = [each.name for each in reversed(place.pod.spec.init_containers) if each.name in names]
    return [*(name for name in names if name not in inits), *inits]
