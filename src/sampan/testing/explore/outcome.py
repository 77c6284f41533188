"""`Outcome`: the result of a run, in a form in which runs can be compared."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.client.transport import HttpRequest
from sampan.core.object import Object
from sampan.storage.encoding import decode
from sampan.testing.cluster import Cluster
from sampan.testing.explore.faults.contention import without_change
from sampan.testing.explore.plan import WriteId
from sampan.testing.explore.rewrites import changes, more_often, written_places
from sampan.testing.explore.scenario import Check, State
from sampan.testing.journal import JournalEntry
from sampan.testing.observations.leaks import leaked_objects, stored
from sampan.testing.observations.values import GONE, UID, lines_of, masked, short, without_uids

_UNCOMPARED: Final = (
    "/registry/events/",
    "/registry/ipaddresses/",
    "/registry/leases/",
    "/registry/masterleases/",
    "/registry/ranges/",
)
"""Prefixes of keys that are not compared. Names of IPAddresses are random, because Services get random addresses."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a run. Keys are those of the store, with numbers in place of generated names."""

    state: Mapping[str, Any]
    created: Mapping[str, int]
    """Number of creations by key."""
    deleted: Mapping[str, int]
    leaks: tuple[str, ...]
    error: str
    writes: Sequence[WriteId]
    story: Sequence[str]
    """Writes to the store, one line each."""
    suspicious: Sequence[str] = ()
    """Signs that the operator works against itself, in a run without a fault."""
    requests: int = 0
    """Number of requests of the operator."""
    details: str = ""
    """The whole message of the error."""
    fired: bool = True
    """False if the fault did not occur."""
    broken: Sequence[str] = ()
    """Rules that a state during the run broke."""
    log: Sequence[str] = ()
    """Requests, writes and the final store in bytes; empty unless `run_trial` was called with `logged`."""
    awaits: Sequence[WriteId] = ()
    """Awaits of the operator. Of several at the same lines between the same two writes, only the first is included."""
    owned: Sequence[WriteId] = ()
    """Writes of the operator that made an object with an owner."""
    needed: Sequence[WriteId] = ()
    """Creations of objects that the operator needs."""
    changes: Mapping[str, int] = field(default_factory=dict)
    """Number of changes after the first value, by path, in objects that the operator wrote."""
    moments: Sequence[WriteId] = ()
    """Writes, and the operator's reads of these objects, after which one of them may be deleted."""
    reads: Sequence[WriteId] = ()
    """Reads of the operator; see `Trial`."""
    sent: Mapping[WriteId, HttpRequest] = field(default_factory=dict)
    """Requests of the user that change objects."""


async def outcome_of(
    cluster: Cluster,
    first: int,
    writes: Sequence[WriteId],
    error: str,
    *,
    fired: bool,
    checks: Sequence[Check] = (),
    unstable: Collection[str] | None = None,
    actor: str = "operator",
) -> Outcome:
    """Return the outcome of a run. `first` is the number of writes before the scenario.

    Changes are counted of what `actor` wrote: at the paths in `unstable`; None: at all.
    """
    rows = await stored((await cluster.server()).store)
    objects = {key: decode(value) for key, value in rows.items() if not key.startswith(_UNCOMPARED)}
    names = _plain_names(objects, cluster.journal.writes)
    created: Counter[str] = Counter()
    deleted: Counter[str] = Counter()
    story = []
    for write in cluster.journal.writes[first:]:
        if write.key.startswith(_UNCOMPARED):
            continue
        before, after = write.before, write.after
        key = names.get(write.key) or _plain_key(write.key, after or before or {})
        if before is None:
            created[key] += 1
        elif after is None:
            deleted[key] += 1
        what = "created" if before is None else "deleted" if after is None else "changed"
        story.append(f"{what} {key.removeprefix('/registry/')}")
    state = {names[key]: without_change(without_uids(masked(obj))) for key, obj in objects.items()}
    broken = tuple(_broken(cluster.journal.writes, first, checks)) if checks else ()
    leaks = tuple(leaked_objects(rows))
    counted = _counted(names, unstable)
    changed = changes(cluster.journal.writes[first:], counted, written_places(writes, actor)) if counted else {}
    return Outcome(
        state, created, deleted, leaks, error, tuple(writes), tuple(story), fired=fired, broken=broken, changes=changed
    )


def _counted(names: Mapping[str, str], unstable: Collection[str] | None) -> Mapping[str, str]:
    """Return the names of the objects that have one of these paths; None: all."""
    if unstable is None:
        return names
    return {key: name for key, name in names.items() if any(path.startswith(f"{short(name)}.") for path in unstable)}


def _broken(writes: Sequence[JournalEntry], first: int, checks: Sequence[Check]) -> Iterator[str]:
    """Yield each broken rule once, with the first write after which it is broken."""
    objects: dict[str, Object] = {}
    found: set[str] = set()
    for number, write in enumerate(writes):
        before, after = write.before, write.after
        if after is None:
            objects.pop(write.key, None)
        else:
            objects[write.key] = after
        if number < first:
            continue
        state = State(objects, before, after)
        for fault in (check(state) for check in checks):
            if fault is not None and fault not in found:
                found.add(fault)
                yield f"{fault} (after a write to {short(write.key)})"


def log_of(cluster: Cluster, rows: Mapping[str, bytes]) -> Iterator[str]:
    """Yield all requests with their times, all writes, and the store at the end."""
    for each in cluster.requests:
        yield f"{each.at_s} {each}"
    for write in cluster.journal.writes:
        yield f"{write.at_s} {write.revision} {write.key} {write.event.value!r}"
    for key, value in sorted(rows.items()):
        yield f"{key} {value!r}"


def differences(
    reference: Outcome, found: Outcome, unstable: frozenset[str], *, counts: bool, allowed_leaks: Sequence[str] = ()
) -> list[str]:
    """Return how an outcome differs from the reference, one line each. Paths in `unstable` are not compared.

    `counts`: also compare how often the objects that should exist at the end were deleted, and how often the values at
    the paths in `unstable` changed.
    """
    if found.error and found.error != reference.error:
        return [found.error]
    lines = [each for each in found.broken if each not in reference.broken]
    lines += [
        line
        for key in sorted({*reference.state, *found.state})
        for line in lines_of(key, reference.state.get(key, GONE), found.state.get(key, GONE))
        if line.partition(":")[0] not in unstable
    ]
    lines += [each for each in found.leaks if each not in reference.leaks and not each.startswith(tuple(allowed_leaks))]
    if counts:
        for key in sorted({*found.deleted} & {*reference.state}):
            before, now = reference.deleted.get(key, 0), found.deleted[key]
            if now > before:
                lines.append(f"{short(key)}: deleted {now} times instead of {before}")
        lines += more_often(reference.changes, found.changes, unstable)
    return lines


def unstable_paths(first: Outcome, second: Outcome) -> frozenset[str]:
    """Return the paths that differ between two runs without a fault."""
    return frozenset(
        line.partition(":")[0]
        for key in {*first.state, *second.state}
        for line in lines_of(key, first.state.get(key, GONE), second.state.get(key, GONE))
    )


def _plain_names(objects: Mapping[str, Any], writes: Sequence[JournalEntry]) -> dict[str, str]:
    """Return the keys with a number in place of each generated name or uid, in order of creation."""
    creations = {write.key: number for number, write in enumerate(writes) if write.event.previous is None}
    found: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    # Generated names are random, and stored objects have no resourceVersion: only the writes have an order.
    for key, obj in sorted(objects.items(), key=lambda item: creations.get(item[0], -1)):
        plain = _plain_key(key, obj)
        if plain != key:
            numbers[plain] += 1
            plain = f"{plain}{numbers[plain]}"
        found[key] = plain
    return found


def _plain_key(key: str, obj: Mapping[str, Any]) -> str:
    prefix = (obj.get("metadata") or {}).get("generateName")
    return f"{key.rpartition('/')[0]}/{prefix}#" if prefix else UID.sub("#", key)


def first_lines(text: str) -> str:
    """Return the first line of a message, and the next one if the first only introduces it."""
    lines = [line.strip() for line in text.splitlines()] or [""]
    return " ".join(lines[:2] if lines[0].endswith(":") else lines[:1])


def error_line(error: BaseException) -> str:
    """Return type, first line and notes of an error, such as the part of the operator that raised it."""
    text = f"{type(error).__name__}: {first_lines(str(error))}"
    notes = [note for note in getattr(error, "__notes__", ()) if "\n" not in note]
    return f"{text} ({'; '.join(notes)})" if notes else text
