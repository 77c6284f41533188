"""`Outcome`: the result of a run, in a form in which runs can be compared."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.object import Object
from sampan.storage.encoding import decode
from sampan.testing.cluster import Cluster
from sampan.testing.explore.plan import WriteId
from sampan.testing.explore.scenario import Check, State
from sampan.testing.journal import Write
from sampan.testing.leaks import leaked_objects, stored
from sampan.testing.timeline import MASK

_UNCOMPARED: Final = (
    "/registry/events/",
    "/registry/ipaddresses/",
    "/registry/leases/",
    "/registry/masterleases/",
    "/registry/ranges/",
)
"""Prefixes of keys that are not compared. Names of IPAddresses are random, because Services get random addresses."""
_SECRETS: Final = "/registry/secrets/"
_MASKED: Final = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "generation", "observedGeneration", "managedFields"}
    | {"podIP", "podIPs"}  # A node gives them to its Pods in the order in which they come.
)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_GONE: Final = object()


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
    moments: Sequence[WriteId] = ()
    """Writes, and the operator's reads of these objects, after which one of them may be deleted."""


async def outcome_of(
    cluster: Cluster, first: int, writes: Sequence[WriteId], error: str, *, fired: bool, checks: Sequence[Check] = ()
) -> Outcome:
    """Return the outcome of a run. `first` is the number of writes before the scenario."""
    rows = await stored((await cluster.server()).store)
    objects = {key: decode(value) for key, value in rows.items() if not key.startswith(_UNCOMPARED)}
    names = _plain_names(objects)
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
    state = {names[key]: masked(obj) for key, obj in objects.items()}
    broken = tuple(_broken(cluster.journal.writes, first, checks)) if checks else ()
    leaks = tuple(leaked_objects(rows))
    return Outcome(state, created, deleted, leaks, error, tuple(writes), tuple(story), fired=fired, broken=broken)


def _broken(writes: Sequence[Write], first: int, checks: Sequence[Check]) -> Iterator[str]:
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
                yield f"{fault} (after a write to {_short(write.key)})"


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

    `counts`: also compare how often the objects that should exist at the end were deleted.
    """
    if found.error and found.error != reference.error:
        return [found.error]
    lines = [each for each in found.broken if each not in reference.broken]
    lines += [
        line
        for key in sorted({*reference.state, *found.state})
        for line in _compared(key, reference.state.get(key, _GONE), found.state.get(key, _GONE))
        if line.partition(":")[0] not in unstable
    ]
    lines += [each for each in found.leaks if each not in reference.leaks and not each.startswith(tuple(allowed_leaks))]
    if counts:
        for key in sorted({*found.deleted} & {*reference.state}):
            before, now = reference.deleted.get(key, 0), found.deleted[key]
            if now > before:
                lines.append(f"{_short(key)}: deleted {now} times instead of {before}")
    return lines


def unstable_paths(first: Outcome, second: Outcome) -> frozenset[str]:
    """Return the paths that differ between two runs without a fault."""
    return frozenset(
        line.partition(":")[0]
        for key in {*first.state, *second.state}
        for line in _compared(key, first.state.get(key, _GONE), second.state.get(key, _GONE))
    )


def _plain_names(objects: Mapping[str, Any]) -> dict[str, str]:
    """Return the keys with a number in place of each generated name, in order of creation."""
    found: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for key, obj in sorted(objects.items(), key=lambda item: int(item[1]["metadata"].get("resourceVersion") or 0)):
        plain = _plain_key(key, obj)
        if plain != key:
            numbers[plain] += 1
            plain = f"{plain}{numbers[plain]}"
        found[key] = plain
    return found


def _plain_key(key: str, obj: Mapping[str, Any]) -> str:
    prefix = (obj.get("metadata") or {}).get("generateName")
    return f"{key.rpartition('/')[0]}/{prefix}#" if prefix else key


def first_lines(text: str) -> str:
    """Return the first line of a message, and the next one if the first only introduces it."""
    lines = [line.strip() for line in text.splitlines()] or [""]
    return " ".join(lines[:2] if lines[0].endswith(":") else lines[:1])


def masked(value: Any) -> Any:
    """Return a value without the fields that differ in each run: uids, versions and times."""
    if isinstance(value, dict):
        return {
            key: "set" if key == "deletionTimestamp" else masked(_by_type(each) if key == "conditions" else each)
            for key, each in value.items()
            if key not in _MASKED
        }
    if isinstance(value, list):
        return [masked(each) for each in value]
    return _TIME.sub("<time>", value) if isinstance(value, str) else value


def _by_type(conditions: Any) -> Any:
    """Sort conditions: their type is their key, and their order only shows which one changed last."""
    if isinstance(conditions, list) and all(isinstance(each, dict) and "type" in each for each in conditions):
        return sorted(conditions, key=lambda each: str(each["type"]))
    return conditions


def _compared(path: str, reference: Any, found: Any) -> Iterator[str]:
    if reference == found:
        return
    if isinstance(reference, dict) and isinstance(found, dict):
        for key in sorted({*reference, *found}):
            yield from _compared(f"{path}.{key}", reference.get(key, _GONE), found.get(key, _GONE))
    elif found is _GONE:
        yield f"{_short(path)}: missing"
    elif reference is _GONE:
        yield f"{_short(path)}: left over"
    elif path.startswith(_SECRETS):
        yield f"{_short(path)}: {MASK} instead of another value"
    else:
        yield f"{_short(path)}: {_text(found)} instead of {_text(reference)}"


def _short(path: str) -> str:
    return path.removeprefix("/registry/")


def _text(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
