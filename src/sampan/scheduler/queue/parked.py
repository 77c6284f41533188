"""`Parked`: the Pods that wait for something to happen, together with those that were rejected by the same plugins."""

from collections.abc import Callable, Iterator

from sampan.scheduler.queue.queued_pod import QueuedPod

_Group = tuple[str, frozenset[str]]


class Parked:
    """An event that no plugin of a group waits for costs nothing, however many Pods are in it."""

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
        """A Pod that is in it."""
        group = self._group_of.get(uid)
        return None if group is None else self._groups[group][uid]

    def put(self, queued: QueuedPod) -> None:
        """A Pod waits. Its plugins must stay as they are while it does."""
        self.remove(queued.pod.uid)
        group = (queued.pod.constraints.scheduler_name, queued.plugins)
        self._group_of[queued.pod.uid] = group
        self._groups.setdefault(group, {})[queued.pod.uid] = queued

    def remove(self, uid: str) -> None:
        """It waits no more."""
        group = self._group_of.pop(uid, None)
        if group is not None:
            pods = self._groups[group]
            del pods[uid]
            if not pods:
                del self._groups[group]

    def alike(self, concerns: Callable[[QueuedPod], bool]) -> list[QueuedPod]:
        """The Pods of the groups that something concerns: asked of one Pod for all that the same plugins rejected."""
        return [
            queued
            for group in self._groups.values()
            if concerns(next(iter(group.values())))
            for queued in group.values()
        ]
