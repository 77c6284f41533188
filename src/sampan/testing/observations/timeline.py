"""Timeline of an object and of all that it owns: writes, events, reconciles, refused requests and warnings.

Values of Secrets never appear in it.
"""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.json.values import same
from sampan.testing.journal import Journal, JournalEntry
from sampan.testing.observations.endless import REPEATS_MAX, WINDOW_S
from sampan.testing.operators.running import ReconcileRecord
from sampan.testing.requests import Requests

LINES_MAX: Final = 40
"""Maximum number of lines; the newest lines are kept."""
_WIDTH_MAX: Final = 150
_VALUE_MAX: Final = 60
_FIELDS_MAX: Final = 4
_FAILING_MAX: Final = 5
_ERROR_MAX: Final = 500
_UNSHOWN: Final = frozenset({"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"})
_SECRETS: Final = "/registry/secrets/"
_EVENTS: Final = "/registry/events/"
MASK: Final = "***"


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """One line; lines are ordered by time, then by revision or number."""

    at_s: float
    rank: tuple[int, int]
    """Order of lines with the same time: writes, refused requests, reconciles."""
    text: str
    kind: str = ""
    """Lines of one kind in a row are folded; empty: only equal lines are."""


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """An object by the name of its resource, its namespace and its name."""

    resource: str
    namespace: str
    name: str


def timeline(
    place: ObjectPlace, journal: Journal, requests: Requests, reconciles: Sequence[ReconcileRecord]
) -> list[str]:
    """Return the lines about an object and what it owns, oldest first."""
    family = _family(place, journal)
    lines = [*_writes(family, journal), *_noted(place, family, requests), *_reconciles(place, reconciles)]
    lines.sort()
    if not lines:
        return ["  nothing has happened to it"]
    first = lines[0].at_s
    texts = [f"  {_offset(each.at_s - first)} {each.text}"[:_WIDTH_MAX] for each in _folded(lines)]
    hidden = len(texts) - LINES_MAX
    return [f"  … {hidden} earlier lines", *texts[hidden:]] if hidden > 0 else texts


def _family(place: ObjectPlace, journal: Journal) -> dict[str, str]:
    """Return the keys of the object and of what it owns, directly or not, with their names in the report."""
    uids: set[str] = set()
    keys: dict[str, str] = {}
    end = f"/{place.namespace}/{place.name}" if place.namespace else f"/{place.name}"
    while True:
        count = len(keys)
        for write in journal.writes:
            obj = write.after or write.before or {}
            metadata = obj.get("metadata") or {}
            owners = {each.get("uid") for each in metadata.get("ownerReferences") or ()}
            is_it = write.key.endswith(end) and place.resource in write.key.split("/")
            if is_it or owners & uids:
                keys[write.key] = short(write.key)
                uids.add(metadata.get("uid", ""))
        if len(keys) == count:
            return keys


def _writes(family: Mapping[str, str], journal: Journal) -> Iterator[Line]:
    uids = {
        (write.after or write.before or {})["metadata"].get("uid") for write in journal.writes if write.key in family
    }
    for write in journal.writes:
        if write.key in family:
            yield Line(write.at_s, (0, write.revision), f"r{write.revision} {short(write.key)} {described(write)}")
        elif write.key.startswith(_EVENTS) and (event := write.after) is not None:
            about = event.get("involvedObject") or event.get("regarding") or {}
            if about.get("uid") in uids:
                count = event.get("count") or (event.get("series") or {}).get("count") or 1
                times = f" (x{count})" if count > 1 else ""
                text = f"event {event.get('type')} {event.get('reason')}: {event.get('message') or event.get('note')}"
                yield Line(write.at_s, (0, write.revision), text + times)


def described(write: JournalEntry) -> str:
    """Return the change of a write in words: its manager and the changed fields. Values of Secrets are masked."""
    before, after = write.before, write.after
    if after is None:
        return "is deleted"
    managers = ", ".join(managers_of(before, after))
    secret = write.key.startswith(_SECRETS)
    changes = list(_changes({} if before is None else before, after, "", secret))
    shown = ", ".join(changes[:_FIELDS_MAX]) + (
        f", … {len(changes) - _FIELDS_MAX} more" if changes[_FIELDS_MAX:] else ""
    )
    word = "created" if before is None else "changed"
    return f"{word} by {managers or '?'}: {shown}"


def managers_of(before: Any, after: Mapping[str, Any]) -> list[str]:
    """Return the field managers that have changed an object."""
    old = ((before or {}).get("metadata") or {}).get("managedFields") or []
    new = after["metadata"].get("managedFields") or []
    # A write in the second of the manager's last one, with the same fields, leaves its entry as it was.
    changed = [each for each in new if each not in old] or new
    # The entry of a manager that has lost its field has changed too.
    changed = [each for each in changed if _owns(each, before or {}, after)] or (changed if changed is not new else [])
    return list(dict.fromkeys(each.get("manager", "") for each in changed))


def _owns(entry: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return True if a manager owns a field that differs. Items of lists are not looked at."""
    fields = entry.get("fieldsV1") or {}
    while isinstance(before, Mapping) and isinstance(after, Mapping):
        owned = [key for key in after if f"f:{key}" in fields and not same(after[key], before.get(key))]
        if not owned:
            return False
        key = owned[0]
        before, after, fields = before.get(key) or {}, after[key], fields[f"f:{key}"]
        if not any(each.startswith("f:") for each in fields):
            return True
    return True


def _changes(before: Any, after: Any, path: str, secret: bool) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*after, *before)):
            if key in _UNSHOWN or (not path and key in ("kind", "apiVersion")):
                continue
            new = after.get(key)
            old = before.get(key, {} if isinstance(new, Mapping) else None)
            yield from _changes(old, new, f"{path}.{key}", secret)
    elif not same(before, after):
        value = "removed" if after is None else MASK if secret and _is_data(path) else repr(after)
        yield f"{path}={value if len(value) <= _VALUE_MAX else value[: _VALUE_MAX - 1] + '…'}"


def _is_data(path: str) -> bool:
    return path.startswith((".data", ".stringData", ".metadata.annotations"))


def _noted(place: ObjectPlace, family: Mapping[str, str], requests: Requests) -> Iterator[Line]:
    """Yield the refused requests and those with warnings."""
    ends = {(parts[-2] if len(parts) > 4 else "", parts[-1]) for parts in (key.split("/") for key in family)}
    ends.add((place.namespace, place.name))
    namespaces = {namespace for namespace, _ in ends}
    for each in requests:
        is_refused = each.verb != "watch" and not 0 < each.code < 400 and (each.code != 404 or each.is_write)
        if not is_refused and not each.warnings:
            continue
        if (each.namespace, each.name) in ends or (each.verb == "create" and each.namespace in namespaces):
            yield Line(each.at_s, (1, each.number), f"{'refused' if is_refused else 'warned'}: {each}")


def _reconciles(place: ObjectPlace, reconciles: Sequence[ReconcileRecord]) -> Iterator[Line]:
    for number, each in enumerate(reconciles):
        if (each.namespace, each.name) == (place.namespace, place.name):
            kind = f"{each.controller}: {each.error}" if each.error else ""
            yield Line(each.at_s, (2, number), f"reconcile by {each.controller}: {each.result}", kind)


def _folded(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield the lines; of many equal ones in a row, yield the last one and its count."""
    count = 0
    for position, line in enumerate(lines):
        count += 1
        following = lines[position + 1] if position + 1 < len(lines) else None
        if following is not None and (following.kind or following.text) == (line.kind or line.text):
            continue
        yield Line(line.at_s, line.rank, f"{count} times: {line.text}" if count > 1 else line.text)
        count = 0


def short(key: str) -> str:
    """Return `configmaps/box` for a key; the namespace is added if it is not `default`."""
    parts = key.removeprefix("/registry/").split("/")
    name = parts[-1]
    namespace = parts[-2] if len(parts) > 2 and parts[-2] != "default" else ""
    resource = parts[0] if "." not in parts[0] else parts[1] if len(parts) > 2 else parts[0]
    return f"{resource}/{namespace + '/' if namespace else ''}{name}"


def _offset(seconds: float) -> str:
    if seconds < 3600:
        return f"+{seconds:8.3f}s"
    return "+" + str(dt.timedelta(seconds=round(seconds)))


def failing(reconciles: Sequence[ReconcileRecord]) -> list[str]:
    """Return a line for each object whose last reconcile by a controller failed, with the whole error."""
    last: dict[tuple[str, str, str], ReconcileRecord] = {}
    counts: Counter[tuple[str, str, str]] = Counter()
    for each in reconciles:
        place = (each.controller, each.namespace, each.name)
        last[place] = each
        counts[place] += bool(each.error)
    lines = [
        f"  {each.namespace}/{each.name} by {each.controller}, {counts[place]} times: {_whole(each.error)}"
        for place, each in last.items()
        if each.error
    ]
    hidden = len(lines) - _FAILING_MAX
    return [*lines[:_FAILING_MAX], f"  … and {hidden} more objects"] if hidden > 0 else lines


def forbidden(requests: Requests, actors: Collection[str]) -> list[str]:
    """Return a line for each kind of request of these actors for which they have no right."""
    counts = Counter(
        f"{each.actor}: {each.verb} {each.resource}{'/' if each.subresource else ''}{each.subresource}"
        for each in requests
        if each.code == 403 and each.actor in actors
    )
    return [f"  {text} ({count} times)" for text, count in counts.most_common(_FAILING_MAX)]


def _whole(error: str) -> str:
    text = " ".join(error.split())
    return text if len(text) <= _ERROR_MAX else f"{text[: _ERROR_MAX - 1]}…"


def busiest(
    requests: Requests, reconciles: Sequence[ReconcileRecord], within_s: float, endless_after_s: float | None = None
) -> str:
    """Return the message about a cluster that does not settle, with the most frequent actions of its clients.

    `endless_after_s`: the time at which an operator was found that works without end; None: the wait took `within_s`.
    """
    counts: dict[str, int] = {}
    for done in reconciles:
        words = f"reconcile of {done.namespace}/{done.name} by {done.controller}: {done.result}"
        counts[words] = counts.get(words, 0) + 1
    for each in requests:
        words = f"{each.actor}: {each.verb} {each.resource} {each.namespace}/{each.name}".rstrip("/ ")
        counts[words] = counts.get(words, 0) + 1
    most = sorted(counts.items(), key=lambda item: -item[1])[:5]
    lines = [f"  {count} x {words}" for words, count in most] or ["  no requests: a short timer is set all the time"]
    if endless_after_s is not None:
        within_s = round(endless_after_s, 1)
        lines.append(f"  stopped early: {REPEATS_MAX / WINDOW_S:g} repetitions a second, without progress")
    return "\n".join([f"the cluster did not settle within {within_s:g} s; most often:", *lines])
