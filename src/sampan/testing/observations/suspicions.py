"""`suspicions`: signs in the writes of an operator that works against itself or other clients without faults.

| sign | what is not counted |
|---|---|
| two writers set a field in turn, or one sets it to and fro | changes around a write of the user; counts in a status |
| the operator deletes an object that it made | an object that others have changed, such as a Job that has run |
| the garbage collector deletes an object that the operator made | |
| the operator makes an object again | an object that the user has deleted |
| the operator makes two equal objects with generated names | Pods |

The state at the end may be right, but it is not taken as the right end.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sampan.testing.control_loops.sets import ACTORS
from sampan.testing.journal import JournalEntry
from sampan.testing.observations.timeline import managers_of
from sampan.testing.observations.values import GONE, compared, masked, short
from sampan.testing.requests import Requests

_UNSEEN: Final = ("/registry/events/", "/registry/leases/")
_VALUES: Final = 4
"""Values in a row, of two writers that set a field in turn: a, b, a, b."""
_VALUES_OF_ONE: Final = 6
_USER: Final = "test"


@dataclass(slots=True)
class _Object:
    """Changes of the object of a key since the last write of the user."""

    made: bool = False
    """The operator has made it."""
    unmade: bool = False
    """The operator had made one, which was deleted, not by the user."""
    shared: bool = False
    """Another client has changed it."""
    values: dict[str, list[tuple[Any, str]]] = field(default_factory=dict)
    """Values by path, each with its writer."""


def suspicions(writes: Sequence[JournalEntry], requests: Requests, actor: str = "operator") -> list[str]:
    """Return the signs, each once, with the object first. `actor` is that of the operator in `requests`."""
    found: dict[str, None] = {}
    objects: dict[str, _Object] = {}
    twins: dict[str, str] = {}
    for write in writes:
        if write.key.startswith(_UNSEEN):
            continue
        writers = _writers(write, requests, actor)
        if _USER in writers:
            # What follows may be the reaction.
            objects.clear()
            twins.clear()
            continue
        known = objects.setdefault(write.key, _Object())
        found.update(dict.fromkeys(_life(write, known, writers, actor)))
        if write.event.value is not None:
            found.update(dict.fromkeys(_fights(write, known, writers)))
            found.update(dict.fromkeys(_twins(write, twins, writers)))
    return list(found)


def _writers(write: JournalEntry, requests: Requests, actor: str) -> frozenset[str]:
    before, after = write.before or {}, write.after or {}
    if after and ("deletionTimestamp" in before.get("metadata", {}) or "deletionTimestamp" not in after["metadata"]):
        return frozenset(managers_of(write.before, after))
    # The begin of a deletion and its end have no manager. If both clients have deleted the object, it was the user.
    for each in (_USER, actor):
        if any(_is_of(write.key, sent.resource, sent.namespace, sent.name) for sent in _deletions(requests, each)):
            return frozenset({each})
    return frozenset()


def _deletions(requests: Requests, actor: str) -> Requests:
    return requests.by(actor).verb("delete")


def _is_of(key: str, resource: str, namespace: str, name: str) -> bool:
    return key.endswith(f"/{namespace}/{name}" if namespace else f"/{name}") and resource in key.split("/")


def _life(write: JournalEntry, known: _Object, writers: frozenset[str], actor: str) -> Iterator[str]:
    is_own = bool(writers) and not writers & ACTORS
    if write.event.value is None:
        if known.made and actor in writers and not known.shared:
            yield f"{short(write.key)}: the operator deletes what it has made, without a change of the user"
        elif known.made and not writers and (owners := (write.before or {})["metadata"].get("ownerReferences")):
            names = ", ".join(f"{each.get('kind')}/{each.get('name')}" for each in owners)
            yield f"{short(write.key)}: what the operator has made is garbage: its owner {names} does not exist"
        known.unmade = known.unmade or known.made
        known.made = known.shared = False
        known.values.clear()
    elif write.event.previous is None:
        if is_own and known.unmade:
            yield f"{short(write.key)}: the operator makes it again, without a change of the user"
        known.made = is_own
    elif writers & ACTORS:
        known.shared = True


def _fights(write: JournalEntry, known: _Object, writers: frozenset[str]) -> Iterator[str]:
    if write.event.previous is None:
        return
    writer = ", ".join(sorted(writers)) or "a client"
    for path, before, after in compared(write.key, masked(write.before), masked(write.after)):
        history = known.values.setdefault(path, [(before, "")])
        history.append((after, writer))
        del history[:-_VALUES_OF_ONE]
        names = sorted({each for _, each in history[-_VALUES + 1 :]})
        length = _VALUES if len(names) > 1 else _VALUES_OF_ONE
        values = [value for value, _ in history]
        if len(names) == 1 and ".status." in path and all(each is GONE or type(each) is int for each in values):
            continue  # It follows other objects, such as the Pods that become ready.
        if not ACTORS.issuperset(names) and _alternates(values, length):
            text = f"{' and '.join(names)} set it in turn" if len(names) > 1 else f"{names[0]} sets it to and fro"
            yield f"{short(path)}: {text}, without a change of the user"


def _alternates(values: Sequence[Any], length: int) -> bool:
    last = values[-length:]
    return len(last) == length and all(last[n] == last[n - 2] for n in range(2, length)) and last[0] != last[1]


def _twins(write: JournalEntry, twins: dict[str, str], writers: frozenset[str]) -> Iterator[str]:
    after = write.after or {}
    metadata = after.get("metadata") or {}
    prefix = metadata.get("generateName")
    if write.event.previous is not None or not prefix or not writers or writers & ACTORS or after.get("kind") == "Pod":
        return
    owners = [each.get("uid") for each in metadata.get("ownerReferences") or ()]
    content = {key: each for key, each in masked(after).items() if key not in ("metadata", "status")}
    folder = write.key.rpartition("/")[0]
    text = repr((folder, prefix, metadata.get("labels"), owners, content))
    if text in twins:
        yield f"{short(folder)}/{prefix}: the operator makes two equal objects, without a change of the user"
    twins[text] = write.key
