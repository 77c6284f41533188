"""`PostStarts`: runs postStart hooks. A container counts as started only after its hook.

Concurrency: one task for each running hook.
Source: kubernetes pkg/kubelet/kuberuntime/kuberuntime_container.go `startContainer` (1.36).
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from sampan.node.containers.hooks import HookFailed, run_hook
from sampan.node.environment.fields import PodPlace
from sampan.node.node_events import NodeEvents
from sampan.node.runtime import ContainerRecord, Runtime
from sampan.node.tasks import Tasks
from sampan.node.views.container import Container, Handler

_log = logging.getLogger("sampan.node")


@dataclass(slots=True)
class _Hook:
    id: str
    """Id of the container's run."""
    task: asyncio.Task[None] | None = None
    failed: bool = False


class PostStarts:
    """postStart hooks of this process's Pods."""

    def __init__(self, tasks: Tasks, events: NodeEvents, changed: Callable[[str], None]) -> None:
        """`changed` is called with the key of a Pod when one of its hooks has ended."""
        self._tasks = tasks
        self._events = events
        self._changed = changed
        self._hooks: dict[str, dict[str, _Hook]] = {}

    def begin(self, runtime: Runtime, place: PodPlace, container: Container, record: ContainerRecord) -> bool:
        """Run the hook of a container that has just started. Returns whether the container has a hook."""
        handler = container.lifecycle.post_start
        if handler is None or not record.is_running:
            return False
        hook = _Hook(record.id)
        self._hooks.setdefault(place.pod.metadata.uid, {})[container.name] = hook
        work = self._run(runtime, place, container, handler, hook)
        hook.task = self._tasks.begin(work, f"postStart hook of {place.pod.key}/{container.name}")
        return True

    def applied(self, uid: str, records: dict[str, ContainerRecord]) -> dict[str, ContainerRecord]:
        """Return the records. Containers whose hook still runs are shown as not started."""
        hooks = self._hooks.get(uid)
        if not hooks:
            return records
        applied = dict(records)
        for name, hook in list(hooks.items()):
            record = records.get(name)
            if record is None or record.id != hook.id or not record.is_running:
                if hook.task is not None:
                    hook.task.cancel()
                del hooks[name]
            else:
                applied[name] = replace(record, started=False, ready=False)
        return applied

    def failed(self, uid: str) -> list[str]:
        """Return the containers whose hook has failed. They must be stopped."""
        return [name for name, hook in self._hooks.get(uid, {}).items() if hook.failed]

    def runs(self, uid: str) -> bool:
        """Return whether a hook runs. No other container of the Pod starts before it ends."""
        return any(not hook.failed for hook in self._hooks.get(uid, {}).values())

    def forget(self, uid: str) -> None:
        """Cancel the hooks of a Pod that no longer exists."""
        for hook in self._hooks.pop(uid, {}).values():
            if hook.task is not None:
                hook.task.cancel()

    async def _run(
        self, runtime: Runtime, place: PodPlace, container: Container, handler: Handler, hook: _Hook
    ) -> None:
        pod, name = place.pod, container.name
        try:
            await run_hook(runtime, place, container, handler)
        except HookFailed as error:
            _log.warning("postStart hook of %s/%s failed: %s", pod.key, name, error)
            self._events.warning(pod, "FailedPostStartHook", "PostStartHook failed", name)
            hook.failed = True
        else:
            hooks = self._hooks.get(pod.metadata.uid, {})
            if hooks.get(name) is hook:
                del hooks[name]
        self._changed(pod.key)
