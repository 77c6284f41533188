"""Fields that differ between two states of an object, with their managers.

`metadata.managedFields` records owners, and which lists are maps with keys or sets. Other lists change as a whole.

Source: structured-merge-diff fieldpath/serialize-pe.go for the form of FieldsV1 (kubernetes 1.36).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sampan.core.json.values import same
from sampan.resource import Object
from sampan.wire import json

ABSENT: Final = object()
"""Value of a missing field."""
_OF_THE_SERVER: Final = frozenset({"resourceVersion", "managedFields", "generation"})
"""Metadata fields that every write changes."""

Fields = Mapping[str, Any]
Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """Change of one field. `before` or `after` may be `ABSENT`; `managers` have the form `name (Apply)`."""

    path: str
    before: Any
    after: Any
    managers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Position in an object: as a path for users, and as keys of FieldsV1."""

    text: str = ""
    keys: tuple[str, ...] = ()

    def field(self, name: str) -> "_Place":
        plain = name.replace("-", "").replace("_", "").isalnum()
        return _Place(f"{self.text}.{name}" if plain else f'{self.text}["{name}"]', (*self.keys, f"f:{name}"))

    def item(self, key: str) -> "_Place":
        key_values = json.decode(key[2:].encode())
        shown = (
            ",".join(f"{name}={value}" for name, value in key_values.items())
            if isinstance(key_values, dict)
            else f"={key_values}"
        )
        return _Place(f"{self.text}[{shown}]", (*self.keys, key))


def field_changes(before: Object, after: Object) -> list[FieldChange]:
    """Return the differences in order of their paths, without the metadata fields that every write changes."""
    entries = (*_entries(before), *_entries(after))
    fields: Fields = {}
    for entry in entries:
        fields = _united(fields, entry.get("fieldsV1") or {})
    writers = _writers(before, after)
    owners = {False: _entries(after), True: _entries(before)}
    return [
        FieldChange(place.text, old, new, _managers(place.keys, writers, owners[new is ABSENT]))
        for place, old, new in _differences(_shown(before), _shown(after), fields, _Place())
    ]


def _shown(obj: Object) -> Object:
    metadata = {name: value for name, value in (obj.get("metadata") or {}).items() if name not in _OF_THE_SERVER}
    return {**obj, "metadata": metadata}


def _entries(obj: Object) -> Sequence[Entry]:
    return (obj.get("metadata") or {}).get("managedFields") or ()


def _identity(entry: Entry) -> tuple[Any, ...]:
    return tuple(entry.get(name) for name in ("manager", "operation", "apiVersion", "subresource"))


def _writers(before: Object, after: Object) -> list[Entry]:
    """Return the entries that the write has added or renewed. Other entries may lose fields, but keep their time.

    The result may be empty: times are whole seconds, so two writes of a manager in one second look the same.
    """
    known = {_identity(entry): entry for entry in _entries(before)}
    written = [entry for entry in _entries(after) if entry.get("time") != known.get(_identity(entry), {}).get("time")]
    return written or [entry for entry in _entries(after) if entry != known.get(_identity(entry))]


def _managers(keys: tuple[str, ...], writers: Sequence[Entry], owners: Sequence[Entry]) -> tuple[str, ...]:
    """Return the writers that own the field; if there are none, all writers; if there are none, all owners."""
    found = [entry for entry in writers if _owns(entry, keys)] if len(writers) > 1 else []
    named = found or writers or [entry for entry in owners if _owns(entry, keys)]
    return tuple(dict.fromkeys(_label(entry) for entry in named))


def _label(entry: Entry) -> str:
    what = entry.get("operation", "")
    subresource = entry.get("subresource")
    return (
        f"{entry.get('manager', '')} ({what} of {subresource})" if subresource else f"{entry.get('manager')} ({what})"
    )


def _owns(entry: Entry, keys: tuple[str, ...]) -> bool:
    """Return True if an entry owns the field, a part of it, or a field that contains it."""
    fields: Fields = entry.get("fieldsV1") or {}
    for depth, key in enumerate(keys):
        if key not in fields:
            return depth > 0 and not (fields.keys() - {"."})
        fields = fields[key]
    return True


def _united(one: Fields, other: Fields) -> Fields:
    united = dict(one)
    for key, fields in other.items():
        united[key] = _united(united[key], fields) if key in united else fields
    return united


Difference = tuple[_Place, Any, Any]


def _differences(old: Any, new: Any, fields: Fields, place: _Place) -> Iterator[Difference]:
    if same(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            inner = fields.get(f"f:{name}") or {}
            yield from _differences(old.get(name, ABSENT), new.get(name, ABSENT), inner, place.field(name))
    elif isinstance(old, list) and isinstance(new, list) and (keys := _item_keys(fields)):
        yield from _item_differences((_by_key(old, keys), _by_key(new, keys)), fields, place)
    else:
        yield place, old, new


def _item_differences(
    sides: tuple[dict[str, Any], dict[str, Any]], fields: Fields, place: _Place
) -> Iterator[Difference]:
    old, new = sides
    for key in dict.fromkeys((*old, *new)):
        yield from _differences(old.get(key, ABSENT), new.get(key, ABSENT), fields.get(key) or {}, place.item(key))


def _item_keys(fields: Fields) -> tuple[str, ...]:
    """Return the names of the keys that identify the items of a list; `v:` for sets; empty if unknown."""
    for key in fields:
        if key.startswith("k:"):
            return tuple(json.decode(key[2:].encode()))
        if key.startswith("v:"):
            return ("v:",)
    return ()


def _by_key(items: list[Any], keys: tuple[str, ...]) -> dict[str, Any]:
    if keys == ("v:",):
        return {f"v:{json.encode(item).decode()}": item for item in items}
    return {_key_of(item, keys): item for item in items}


def _key_of(item: Any, keys: tuple[str, ...]) -> str:
    """Return the item's key as in FieldsV1: names in order."""
    key_values = {name: item[name] for name in sorted(keys) if name in item} if isinstance(item, dict) else {}
    return f"k:{json.encode(key_values).decode()}"
