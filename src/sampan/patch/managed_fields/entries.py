"""Entries of `metadata.managedFields`: parsing, identity, order, and the limit on their number.

Entries are dicts in the form of the API and are never changed after they are built.
Source: apimachinery pkg/util/managedfields/internal/{managedfields,fieldmanager,capmanagers}.go (1.36).
"""

from collections.abc import Sequence
from typing import Any, Final

from sampan.core.object import Object
from sampan.patch.field_sets.fieldset import LEAF, FieldSet, parse, union_of

Entry = dict[str, Any]
Identity = tuple[str, str, str, str]
"""Manager, operation, apiVersion and subresource.

The apiVersion of Apply is "": an applier has one entry for all versions that it applies.
"""

APPLY: Final = "Apply"
UPDATE: Final = "Update"
UPDATE_ENTRIES_MAX: Final = 10
"""Maximum number of Update entries. If there are more, the oldest ones are merged into one."""
_ANCIENT = "ancient-changes"
_OPERATIONS = (APPLY, UPDATE)


def identity(entry: Entry) -> Identity:
    """Return the key that distinguishes entries."""
    operation = entry["operation"]
    version = "" if operation == APPLY else entry.get("apiVersion", "")
    return (entry.get("manager", ""), operation, version, entry.get("subresource", ""))


def make_entry(owner: Identity, api_version: str, time: str | None, fields: FieldSet) -> Entry:
    """Return an entry with its fields in the API's order."""
    manager, operation, _, subresource = owner
    entry: Entry = {}
    if manager:
        entry["manager"] = manager
    entry["operation"] = operation
    entry["apiVersion"] = api_version
    if time:
        entry["time"] = time
    entry["fieldsType"] = "FieldsV1"
    entry["fieldsV1"] = fields
    if subresource:
        entry["subresource"] = subresource
    return entry


def with_fields(entry: Entry, fields: FieldSet) -> Entry:
    """Return the entry with another field set."""
    return {**entry, "fieldsV1": fields}


def parse_entries(raw: Any) -> list[Entry]:
    """Parse entries from a client. Of several entries with one identity, the last one is returned. Raises
    `ValueError`.
    """
    if not isinstance(raw, list):
        raise ValueError("managedFields must be a list")
    found: dict[Identity, Entry] = {}
    for index, item in enumerate(raw):
        entry = _parse_entry(item, index)
        found[identity(entry)] = entry
    return list(found.values())


def _parse_entry(raw: Any, index: int) -> Entry:
    if not isinstance(raw, dict) or raw.get("operation") not in _OPERATIONS:
        raise ValueError("operation must be `Apply` or `Update`")
    if not raw.get("apiVersion"):
        raise ValueError("apiVersion must not be empty")
    kind = raw.get("fieldsType", "")
    if not kind:
        raise ValueError(f"missing fieldsType in managed fields entry {index}")
    if kind != "FieldsV1":
        raise ValueError(f'invalid fieldsType "{kind}" in managed fields entry {index}')
    owner = (raw.get("manager") or "", raw["operation"], "", raw.get("subresource") or "")
    return make_entry(owner, raw["apiVersion"], raw.get("time"), parse(raw.get("fieldsV1")))


def current_entries(live: Object | None, given: Any, *, ignore_given: bool) -> list[Entry]:
    """Return the entries that a write starts from.

    A client may edit the entries (`given`, from its object). An empty list or one empty entry clears them; absent or
    invalid entries leave the entries of the live object. A write through a subresource cannot edit them
    (`ignore_given`).
    """
    known: list[Entry] = [] if live is None else live["metadata"].get("managedFields") or []
    if ignore_given or given is None or given == known:
        return known
    if is_reset(given):
        return []
    try:
        return parse_entries(given) or known
    except ValueError:
        return known


def is_reset(given: Any) -> bool:
    """Report whether the client requests to drop all entries."""
    if not isinstance(given, list):
        return False
    return not given or (len(given) == 1 and isinstance(given[0], dict) and not any(given[0].values()))


def fault(raw: Any) -> str:
    """Return the error in managedFields, which admission may have changed; "" if they are well formed."""
    try:
        parse_entries(raw or [])
    except ValueError as error:
        return str(error)
    return ""


def in_order(entries: list[Entry]) -> list[Entry]:
    """Sort entries for writing: Apply before Update, then by time, manager, version and subresource."""
    return sorted(entries, key=_order) if len(entries) > 1 else entries


def _order(entry: Entry) -> tuple[str, str, str, str, str]:
    return (
        entry["operation"],
        entry.get("time") or "",
        entry.get("manager", ""),
        entry["apiVersion"],
        entry.get("subresource", ""),
    )


def cap(entries: list[Entry]) -> list[Entry]:
    """Limit the Update entries: merge the oldest of each version into one entry of `ancient-changes`."""
    updates = [entry for entry in entries if entry["operation"] == UPDATE]
    surplus = len(updates) - UPDATE_ENTRIES_MAX
    if surplus <= 0:
        return entries
    updates.sort(key=lambda entry: (entry.get("time") or "", identity(entry)))
    return _fold(entries, updates, surplus)


def _fold(entries: list[Entry], oldest_first: Sequence[Entry], surplus: int) -> list[Entry]:
    kept = {identity(entry): entry for entry in entries}
    first_of_version: dict[str, Identity] = {}
    parts: dict[Identity, list[FieldSet]] = {}
    for entry in oldest_first:
        if surplus <= 0:
            break
        version = entry["apiVersion"]
        bucket: Identity = (_ANCIENT, UPDATE, version, "")
        first = first_of_version.get(version)
        if first is None:
            # A single entry of a version keeps its manager; it is renamed when a second one is merged with it.
            first_of_version[version] = identity(entry)
            continue
        folded = parts.get(bucket)
        if folded is None:
            base = kept.get(bucket) or kept.pop(first)
            folded = parts[bucket] = [base["fieldsV1"]]
        if identity(entry) != bucket:
            del kept[identity(entry)]
            surplus -= 1
        folded.append(entry["fieldsV1"])
        kept[bucket] = make_entry(bucket, version, entry.get("time"), LEAF)
    for bucket, folded in parts.items():
        kept[bucket] = with_fields(kept[bucket], union_of(folded))
    return list(kept.values())
