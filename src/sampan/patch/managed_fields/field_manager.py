"""`FieldManager`: track field ownership in `metadata.managedFields` on every write, and merge server-side applies.

Source: apimachinery pkg/util/managedfields/internal/{fieldmanager,structuredmerge,managedfieldsupdater,stripmeta,
skipnonapplied,lastappliedmanager,lastappliedupdater,buildmanagerinfo,versioncheck}.go; structured-merge-diff
merge/update.go (1.36).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sampan.core.errors import bad_request, listed
from sampan.core.object import Object
from sampan.patch.atoms.atom import SAME, Atom, Change, ElementError
from sampan.patch.atoms.atom_schema import root_atom
from sampan.patch.atoms.type_check import type_errors
from sampan.patch.copying import copy_json
from sampan.patch.errors import unexpected
from sampan.patch.field_sets.fieldset import LEAF, FieldSet, difference, intersection, recursive_difference, union
from sampan.patch.field_sets.strip import strip
from sampan.patch.managed_fields.conflict import Conflicts
from sampan.patch.managed_fields.entries import (
    APPLY,
    UPDATE,
    Entry,
    Identity,
    cap,
    current_entries,
    identity,
    in_order,
    make_entry,
    with_fields,
)
from sampan.patch.managed_fields.last_applied import MANAGER, allowed_conflicts, sync_last_applied
from sampan.patch.managed_fields.prune import Pruner
from sampan.patch.managed_fields.repeated_applies import RepeatedApplies
from sampan.schema.structural import Schema

BEFORE_FIRST_APPLY = "before-first-apply"
"""Manager of the fields that existed before the object was tracked."""
_WITHOUT_TIME: Final = "scale"
"""Subresource whose new entries have no time. Source: apimachinery pkg/util/managedfields/scalehandler.go (1.36)."""


@dataclass(frozen=True, slots=True)
class _ApplyRequest:
    """Parameters of one apply; `entries` are the managedFields it starts from."""

    live: Object | None
    config: Object
    owner: Identity
    api_version: str
    now: str
    entries: list[Entry]

    def untracked_live(self) -> Object:
        """Return the live object without managedFields, or an empty object if there is none."""
        if self.live is None:
            return {}
        metadata = {name: value for name, value in self.live["metadata"].items() if name != "managedFields"}
        return {**self.live, "metadata": metadata}


class _Changes:
    """Changes of one write, as they appear in the API version of each entry. The objects are compared once for each
    version.
    """

    __slots__ = ("_compare", "_found", "_new", "_old", "_own")

    def __init__(self, old: Object, new: Object, own: str, compare: Callable[[Object, Object, str], Change]) -> None:
        self._old = old
        self._new = new
        self._own = compare(old, new, own)
        self._compare = compare
        self._found = {own: self._own}

    def of(self, version: str) -> Change:
        """Return the added or modified fields and the removed fields."""
        found = self._found.get(version)
        if found is None:
            # No change in one version means no change in any, so the conversion of both objects is saved.
            found = self._found[version] = self._compare(self._old, self._new, version) if self._own != SAME else SAME
        return found


def _other_entries(entries: list[Entry], changes: _Changes, force: bool) -> list[Entry]:
    """Return the entries of the other managers after an apply.

    Raises `Conflicts` if the apply changes fields that they own, unless `force`.
    """
    kept: list[Entry] = []
    conflicts: list[tuple[Entry, FieldSet]] = []
    for entry in entries:
        changed, removed = changes.of(entry["apiVersion"])
        fields: FieldSet = entry["fieldsV1"]
        if changed is not None:
            contested = intersection(fields, changed)
            # Ownership moves with force. The entry is also recorded in `conflicts`, in case the apply is not forced.
            if contested:
                conflicts.append((entry, contested))
                fields = difference(fields, contested)
        if removed is not None:
            fields = difference(fields, removed)
        if fields:
            kept.append(entry if fields is entry["fieldsV1"] else with_fields(entry, fields))
    if conflicts and not force:
        raise Conflicts(conflicts)
    return kept


def _leaves_out(own: FieldSet, fields: FieldSet) -> bool:
    """Report whether the apply omits a field that the applier owned before. Most applies have the same fields as
    before.
    """
    return own != fields and bool(difference(own, fields))


def _kind_text(obj: Object) -> str:
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    return f"{group}/{version}, Kind={obj.get('kind') or ''}"


def _describe(obj: Object) -> str:
    metadata = obj.get("metadata") or {}
    return f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}; {_kind_text(obj)}"


def _tracked(fields: FieldSet | None, reset: FieldSet | None) -> FieldSet | None:
    if fields is None:
        return None
    fields = strip(fields)
    if reset and fields:
        fields = recursive_difference(fields, reset)
    return fields or None


class FieldManager:
    """Field ownership of one resource in one version. Stateless apart from caches.

    `schema_for` returns the root schema of an apiVersion, or None if it is not served; it is called once for each
    version. `convert` returns an object (of the version in its `apiVersion`) in another version and does not change its
    argument. `reset_fields` maps a subresource to the fields that a write through it cannot change and never owns.
    `kind`, if not empty, is the required kind of an applied object.
    """

    def __init__(
        self,
        *,
        schema_for: Callable[[str], Schema | None],
        convert: Callable[[Object, str], Object],
        reset_fields: Mapping[str, FieldSet] | None = None,
        kind: str = "",
    ) -> None:
        self._schema_for = schema_for
        self._convert = convert
        self._reset_fields = reset_fields or {}
        self._kind = kind
        self._atoms: dict[str, Atom | None] = {}
        self._pruner = Pruner(self._atom_for, convert)
        self._repeated = RepeatedApplies()

    def update(
        self,
        live: Object | None,
        new: Object,
        *,
        manager: str,
        api_version: str,
        subresource: str = "",
        now: str,
    ) -> None:
        """Record in `new` what this create, update or patch changed against `live` (None for a create).

        `new` is the object to be stored, in `api_version`; only its managedFields change. `now` is the time in the
        format of metav1.Time. Fails only if `convert` does; `new` is then unchanged.
        """
        metadata = new["metadata"]
        # Removed before the comparison: the entries describe fields and are not fields themselves.
        given = metadata.pop("managedFields", None)
        entries = current_entries(live, given, ignore_given=subresource != "")
        if live is not None and not entries:
            # The object was never tracked, or the client cleared its entries: it stays untracked.
            return
        owner = (manager or "unknown", UPDATE, api_version, subresource)
        try:
            updated = self._update(live, new, owner, entries, now)
        except ElementError:
            # A list item has no identity. As in Kubernetes, the write succeeds, and the object is stored untracked.
            return
        except Exception:
            if given is not None:
                metadata["managedFields"] = given
            raise
        if updated:
            metadata["managedFields"] = updated

    def _update(self, live: Object | None, new: Object, owner: Identity, entries: list[Entry], now: str) -> list[Entry]:
        version = owner[2]
        time = None if owner[3] == _WITHOUT_TIME else now
        if not entries:
            changed, _ = self._compare(live or {}, new, version, owner[3])
            return [make_entry(owner, version, time, changed)] if changed is not None else []
        changes = self._changes(live, new, version, owner[3])
        changed, _ = changes.of(version)
        updated: list[Entry] = []
        is_new = changed is not None
        for entry in entries:
            fields = self._reconciled(entry)
            if fields is None:
                continue
            more, less = changes.of(entry["apiVersion"])
            if less is not None:
                fields = difference(fields, less)
            if changed is not None and identity(entry) == owner:
                updated.append(make_entry(owner, version, time, union(fields, changed)))
                is_new = False
                continue
            if more is not None:
                fields = difference(fields, more)
            if fields:
                updated.append(entry if fields is entry["fieldsV1"] else with_fields(entry, fields))
        # The manager had no entry, or only one whose version is gone.
        if is_new:
            updated.append(make_entry(owner, version, time, changed or LEAF))
        return in_order(cap(updated))

    def apply(
        self,
        live: Object | None,
        config: Object,
        *,
        manager: str,
        api_version: str,
        subresource: str = "",
        force: bool = False,
        now: str,
        text: bytes = b"",
    ) -> Object:
        """Return the object after `manager` applies `config` to `live` (None if the object does not exist).

        Changes neither argument. The result is a private copy with its managedFields; it is not defaulted. If nothing
        changes, it equals `live`.
        `text`: the text that `config` was decoded from, to recognise its repetition; b"": do not.
        Raises 400 if `config` has managedFields or another version or kind; 409 on conflicts, unless `force`; 500 if
        it does not fit the schema.
        """
        owner = (manager or "unknown", APPLY, "", subresource)
        key = self._repeated.key(live, text, owner, api_version, force)
        if key is not None and key in self._repeated:
            unchanged: Object = copy_json(live)
            return unchanged
        self._check_config(config, api_version)
        try:
            entries = self._entries_before_apply(live, api_version, subresource, now)
            result, same = self._apply_as(_ApplyRequest(live, config, owner, api_version, now, entries), force)
            if key is not None and same and result == live:
                self._repeated.add(key)
            return result
        except ElementError as error:
            raise unexpected(f"failed to create typed live object ({_describe(live or config)}): {error}") from None

    def _apply_as(self, request: "_ApplyRequest", force: bool) -> tuple[Object, bool]:
        """Apply the configuration. Allow kubectl to take over the fields that it applied client-side. See `_apply`."""
        by_kubectl = request.owner[0] == MANAGER
        try:
            result, same = self._apply(request, force)
        except Conflicts as conflicts:
            if not by_kubectl or request.live is None:
                raise conflicts.error() from None
            # A user of kubectl may move from client-side to server-side apply: the fields of the annotation
            # `last-applied` may change owner without force.
            version = request.api_version
            allowed = allowed_conflicts(request.live, version, self._schema_for(version), self._own_atom(version))
            rest = conflicts.without(allowed)
            if rest.found:
                raise rest.error() from None
            result, same = self._apply(request, force=True)
        if by_kubectl:
            sync_last_applied(result, request.config)
        return result, same

    def _check_config(self, config: Object, api_version: str) -> None:
        found = (config.get("apiVersion", ""), config.get("kind", ""))
        if found[0] != api_version or (self._kind and found[1] != self._kind):
            raise bad_request(f"invalid object type: {_kind_text(config)}")
        metadata = config.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("managedFields"), list):
            raise bad_request("metadata.managedFields must be nil")
        errors = type_errors(self._schema_for(api_version), config)
        if errors:
            text = errors[0] if len(errors) == 1 else "errors:\n" + listed([f"  {error}" for error in errors], "\n")
            raise unexpected(f"failed to create typed patch object ({_describe(config)}): {text}")

    def _entries_before_apply(self, live: Object | None, api_version: str, subresource: str, now: str) -> list[Entry]:
        """Return the live object's entries. If it is untracked, assign all its fields to `BEFORE_FIRST_APPLY`."""
        if live is None:
            return []
        known: list[Entry] = live["metadata"].get("managedFields") or []
        if known:
            return known
        changed, _ = self._changes(None, live, api_version, subresource).of(api_version)
        if changed is None:
            return []
        owner = (BEFORE_FIRST_APPLY, UPDATE, api_version, subresource)
        return [make_entry(owner, api_version, now, changed)]

    def _apply(self, request: "_ApplyRequest", force: bool) -> tuple[Object, bool]:
        """Return the merged object. Also return True if it equals the live object, except for managedFields."""
        version, owner = request.api_version, request.owner
        atom = self._own_atom(version)
        fields = self._without_reset(atom.fields(request.config) or LEAF, owner[3])
        # A copy is merged: `before` stays as it is, because conflicts are found by comparing the two.
        before = request.untracked_live()
        merged: Object = atom.merge(copy_json(before), request.config)
        own, others = self._split(request)
        # Prune only if the manager dropped a field since its last apply. Sets of different versions cannot be compared,
        # so a change of version counts, too.
        if own is not None and (own["apiVersion"] != version or _leaves_out(own["fieldsV1"], fields)):
            owned = [(entry["apiVersion"], entry["fieldsV1"]) for entry in others]
            merged = self._pruner.prune(merged, own, [*owned, (version, fields)])
        kept = others
        same = merged == before and atom.compare(before, merged) == SAME
        if not same:
            kept = _other_entries(others, self._changes(before, merged, version, owner[3]), force)
        own_fields = strip(fields)
        if own_fields:
            # An apply without effect must not change the time: it would be a write, and wake all watchers.
            time = (own or {}).get("time") if same or owner[3] == _WITHOUT_TIME else request.now
            kept = [*kept, make_entry(owner, version, time, own_fields)]
        if kept:
            merged.setdefault("metadata", {})["managedFields"] = in_order(kept)
        return merged, same

    def _split(self, request: "_ApplyRequest") -> tuple[Entry | None, list[Entry]]:
        """Return the applier's entry, and the entries of the other managers."""
        own: Entry | None = None
        others: list[Entry] = []
        for entry in request.entries:
            fields = self._reconciled(entry)
            # None: the version is no longer served. Empty: the entry owns nothing. Both kinds are dropped.
            if not fields:
                continue
            adapted = entry if fields is entry["fieldsV1"] else with_fields(entry, fields)
            if identity(entry) == request.owner:
                own = adapted
            else:
                others.append(adapted)
        return own, others

    def _without_reset(self, fields: FieldSet, subresource: str) -> FieldSet:
        reset = self._reset_fields.get(subresource)
        return recursive_difference(fields, reset) if reset else fields

    def _reconciled(self, entry: Entry) -> FieldSet | None:
        """Return the field set of an entry, adapted to the current schema. None if its version is not served."""
        atom = self._atom_for(entry["apiVersion"])
        if atom is None:
            return None
        return atom.reconcile(entry.get("fieldsV1") or LEAF)

    def _changes(self, live: Object | None, new: Object, version: str, subresource: str) -> "_Changes":
        return _Changes(live or {}, new, version, lambda old, now, at: self._compare(old, now, at, subresource))

    def _compare(self, old: Object, new: Object, version: str, subresource: str) -> Change:
        """Return the changed fields, compared in one version of the API.

        Excludes fields that never have an owner or that this write cannot change.
        """
        own = new.get("apiVersion") or version
        atom = self._own_atom(version) if version == own else self._atom_for(version)
        if atom is None:
            return SAME
        # Conversion is expensive, so the object's own version is compared without it.
        if version != own:
            old = self._convert(old, version) if old else old
            new = self._convert(new, version)
        changed, removed = atom.compare(old, new)
        reset = self._reset_fields.get(subresource)
        return _tracked(changed, reset), _tracked(removed, reset)

    def _own_atom(self, version: str) -> Atom:
        atom = self._atom_for(version)
        return root_atom(None) if atom is None else atom

    def _atom_for(self, version: str) -> Atom | None:
        if version not in self._atoms:
            schema = self._schema_for(version)
            self._atoms[version] = None if schema is None else root_atom(schema)
        return self._atoms[version]
