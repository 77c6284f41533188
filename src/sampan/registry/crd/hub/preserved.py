"""Fields that a version cannot represent, preserved in an annotation by version.

The server immediately reverses each conversion, without the annotation. For each difference from the original an entry
records the path, the original value (`value`; absent if there was none) and the value after the reverse conversion
(`was`). When the object is converted back, an entry applies only if the value still equals `was`. Any other value is a
change by a client.
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.object import Object
from sampan.registry.crd.hub.field_paths import FieldPath, put, value_at
from sampan.schema.structural import UNSET
from sampan.wire import json as wire_json

ANNOTATION = "conversion.sampan.dev/preserved"

Entry = dict[str, Any]
Entries = list[Entry]
_HEAD = frozenset({"apiVersion", "kind", "metadata"})


def entries_between(original: Object, back: Object) -> Entries:
    """Return the entries that turn `back` into `original`, without metadata."""
    return list(_differences(_body(original), _body(back), ()))


def _body(obj: Object) -> Object:
    return {name: value for name, value in obj.items() if name not in _HEAD}


def _differences(desired: Any, found: Any, path: FieldPath) -> Iterator[Entry]:
    if isinstance(desired, dict) and desired and found is UNSET:
        found = {}
    if isinstance(desired, dict) and isinstance(found, dict):
        for name in sorted(desired.keys() | found.keys()):
            yield from _differences(desired.get(name, UNSET), found.get(name, UNSET), (*path, name))
    elif not _same(desired, found):
        entry: Entry = {"path": list(path)}
        if desired is not UNSET:
            entry["value"] = desired
        if found is not UNSET:
            entry["was"] = found
        yield entry


def _same(one: Any, other: Any) -> bool:
    """Compare JSON values. true differs from 1, and the order of fields does not matter at any depth."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(value, other[name]) for name, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


def restore(obj: Object, entries: Entries) -> None:
    """Apply in place the entries that are still valid."""
    for entry in entries:
        path = tuple(entry["path"])
        if not _same(value_at(obj, path), entry.get("was", UNSET)):
            continue
        if "value" in entry:
            put(obj, path, entry["value"])
        else:
            take_alone(obj, path)


def take_alone(obj: Object, path: FieldPath) -> None:
    """Remove a field and keep the objects around it, even if they become empty."""
    parent = value_at(obj, path[:-1])
    if isinstance(parent, dict):
        parent.pop(path[-1], None)


def read(obj: Object) -> dict[str, Entries]:
    """Return the annotation's entries by version. Ignore invalid ones."""
    text = ((obj.get("metadata") or {}).get("annotations") or {}).get(ANNOTATION)
    if not isinstance(text, str):
        return {}
    try:
        found = wire_json.decode(text.encode())
    except wire_json.DecodeError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: entries for name, entries in found.items() if _is_sound(entries)}


def _is_sound(entries: Any) -> bool:
    return isinstance(entries, list) and all(
        isinstance(entry, dict) and _is_path(entry.get("path")) for entry in entries
    )


def _is_path(path: Any) -> bool:
    return (
        isinstance(path, list) and bool(path) and path[0] not in _HEAD and all(isinstance(name, str) for name in path)
    )


def write(obj: Object, kept: dict[str, Entries]) -> None:
    """Set or remove the annotation, in place. Metadata that other objects share is copied first."""
    metadata = {**(obj.get("metadata") or {})}
    annotations = {**(metadata.get("annotations") or {})}
    had = annotations.pop(ANNOTATION, None) is not None
    kept = {name: entries for name, entries in sorted(kept.items()) if entries}
    if kept:
        annotations[ANNOTATION] = wire_json.encode(kept).decode()
    elif not had:
        return
    metadata["annotations"] = annotations
    if not annotations:
        del metadata["annotations"]
    obj["metadata"] = metadata
