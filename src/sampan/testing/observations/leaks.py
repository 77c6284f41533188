"""Leaks of operators: objects that nothing will delete any more, and tasks that outlive the test."""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from sampan.storage.encoding import decode
from sampan.storage.memory import MemoryStore
from sampan.testing.observations.timeline import short

_LOOPS: Final = {
    "kubernetes.io/pv-protection": "persistentvolume-protection-controller",
    "kubernetes.io/pvc-protection": "persistentvolumeclaim-protection-controller",
    "kubernetes.io/vac-protection": "volumeattributesclass-protection-controller",
}
"""Loops that remove finalizers, by finalizer."""


class Leak(AssertionError):
    """A test left objects or tasks behind. The message lists them."""


def leaked_objects(rows: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the orphans and the objects whose deletion cannot finish, among the values of a store by key."""
    objects = {key: decode(value) for key, value in rows.items() if b'"ownerReferences"' in value or _ends(value)}
    uids = {uid for value in rows.values() for uid in [_uid(value)]}
    for key, obj in objects.items():
        metadata = obj.get("metadata") or {}
        owners = metadata.get("ownerReferences") or []
        if owners and not any(owner.get("uid") in uids for owner in owners):
            names = ", ".join(f"{owner.get('kind')}/{owner.get('name')}" for owner in owners)
            yield f"{short(key)} is an orphan: its owner {names} does not exist"
        elif metadata.get("deletionTimestamp") and metadata.get("finalizers"):
            hints = [f'; loops="{_LOOPS[each]}" does' for each in metadata["finalizers"] if each in _LOOPS]
            names = ", ".join(metadata["finalizers"])
            yield f"{short(key)} is being deleted, but nothing removes {names}{''.join(hints)}"


async def stored(store: MemoryStore) -> dict[str, bytes]:
    """Return all values of a store by key."""
    found = await store.range("/registry/", "/registry0")
    return {row.key: row.value for row in found.items}


def leaked_tasks(before: Collection[asyncio.Task[Any]]) -> list[str]:
    """Return the names of running tasks that did not run before, except the current one."""
    current = asyncio.current_task()
    tasks = [task for task in asyncio.all_tasks() if task not in before and task is not current]
    return [f"task {task.get_name()} still runs: {task.get_coro()}"[:150] for task in tasks]


def _ends(value: bytes) -> bool:
    return b'"deletionTimestamp"' in value and b'"finalizers"' in value


def _uid(value: bytes) -> str:
    metadata = decode(value).get("metadata") or {}
    uid: str = metadata.get("uid", "")
    return uid
