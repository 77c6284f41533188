"""Values that change after they were first set, such as a password that is generated again.

The end of a run does not show them if each run has another random value. So their changes are counted.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sampan.testing.explore.plan import WriteId
from sampan.testing.journal import JournalEntry
from sampan.testing.observations.values import GONE, compared, masked, short


def written_places(writes: Sequence[WriteId], actor: str) -> frozenset[tuple[str, str, str]]:
    """Return the objects that an actor wrote: resource, namespace and name."""
    return frozenset(each.place for each in writes if each.actor == actor)


def changes(
    writes: Sequence[JournalEntry], names: Mapping[str, str], places: Collection[tuple[str, str, str]]
) -> Counter[str]:
    """Return how often the value at each path changed after it was first set, in the objects of these places.

    `names` are the keys of the outcome by key of the store. An object that is created again is another one.
    """
    found: Counter[str] = Counter()
    for write in writes:
        key = names.get(write.key)
        if key is None or write.event.value is None or write.event.previous is None or not _is_in(write.key, places):
            continue
        found.update(_changed(key, write.before, write.after))
    return found


def _is_in(key: str, places: Collection[tuple[str, str, str]]) -> bool:
    parts = key.split("/")
    return any(name == parts[-1] and resource in parts and (not ns or ns in parts) for resource, ns, name in places)


def _changed(key: str, before: Any, after: Any) -> Iterator[str]:
    """Yield the paths that had a value before, and have another one now."""
    for path, old, _ in compared(key, masked(before), masked(after)):
        if old is not GONE:
            yield short(path)


def more_often(reference: Mapping[str, int], found: Mapping[str, int], paths: Collection[str]) -> Iterator[str]:
    """Yield a line for each of these paths whose value changed more often than in the reference."""
    for path in sorted(paths):
        before, now = reference.get(path, 0), found.get(path, 0)
        if now > before:
            yield f"{path}: differs in each run, and changed {_times(now)} after it was set, not {_times(before)}"


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
