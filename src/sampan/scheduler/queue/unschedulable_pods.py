"""`UnschedulablePods`: Pods that wait for an event, grouped by the plugins that rejected them."""

from collections.abc import Callable, Iterator

from sampan.scheduler.queue.queued_pod import QueuedPod

_Group = tuple[str, frozenset[str]]


class UnschedulablePods:
    """Pods by group.

    If no plugin of a group waits for an event, the cost of the event does not depend on the group's size.
    """

    def __init__(self) -> None:
        self._groups: dict[_Group, dict[str, QueuedPod]] = {}
        self._group_of: dict[str, _Group] = {}

    def __len__(self) -> int:
        return len(self._group_of)

    def __contains__(self, uid: object) -> bool:
        return uid in self._group_of

    def __iter__(self) -> Iterator[QueuedPod]:
        for group in self._groups.values():
            yield from group.values()

    def get(self, uid: str) -> QueuedPod | None:
        """Return a Pod, or None."""
        group = self._group_of.get(uid)
        return None if group is None else self._groups[group][uid]

    def put(self, queued: QueuedPod) -> None:
        """Add a Pod. The Pod's `plugins` must not change until it is removed."""
        self.remove(queued.pod.uid)
        # Pods of a profile that the same plugins rejected wait for the same events. One check serves the whole group.
        group = (queued.pod.constraints.scheduler_name, queued.plugins)
        self._group_of[queued.pod.uid] = group
        self._groups.setdefault(group, {})[queued.pod.uid] = queued

    def remove(self, uid: str) -> None:
        """Remove a Pod, if it is there, and its group if it was the last one."""
        group = self._group_of.pop(uid, None)
        if group is not None:
            pods = self._groups[group]
            del pods[uid]
            if not pods:
                del self._groups[group]

    def waiting_for(self, waits: Callable[[QueuedPod], bool]) -> list[QueuedPod]:
        """Return the Pods of the groups for which `waits` is true. `waits` is called with one Pod of each group."""
        return [
            queued for group in self._groups.values() if waits(next(iter(group.values()))) for queued in group.values()
        ]
