"""Prune fields that an applier no longer applies and that no other manager owns.

Source: structured-merge-diff merge/update.go (v6).
"""

from collections.abc import Callable, Sequence
from typing import Any

from sampan.core.object import Object
from sampan.patch.atoms.atom import Atom
from sampan.patch.field_sets.fieldset import LEAF, FieldSet, difference, intersection, union
from sampan.patch.managed_fields.entries import Entry

AtomFor = Callable[[str], Atom | None]
Convert = Callable[[Object, str], Object]


class Pruner:
    """Remove fields that lost their last owner.

    `atom_for` returns the atom of a version, or None if it is not served; `convert` converts an object to a version.
    """

    __slots__ = ("_atom_for", "_convert")

    def __init__(self, atom_for: AtomFor, convert: Convert) -> None:
        self._atom_for = atom_for
        self._convert = convert

    def prune(self, merged: Object, last: Entry, owned: Sequence[tuple[str, FieldSet]]) -> Object:
        """Return `merged` without the fields that only `last`, the applier's previous entry, owned.

        `owned` contains the version and field set of all current entries, including the applier's new entry. The result
        shares parts with `merged` and has the same version.
        """
        version = last["apiVersion"]
        atom = self._atom_for(version)
        if atom is None or not last["fieldsV1"]:
            return merged
        own_version = merged["apiVersion"]
        merged = self._in(merged, version)
        last_set = atom.named(last["fieldsV1"])
        pruned = self._add_back_owned(merged, _object(atom.remove(merged, last_set), merged), version, owned)
        pruned = self._in(pruned, version)
        removed = difference(_named_fields(atom, merged), _named_fields(atom, pruned))
        result = _object(atom.remove(merged, intersection(removed, last_set)), merged)
        return self._in(result, own_version)

    def _add_back_owned(
        self, merged: Object, pruned: Object, version: str, owned: Sequence[tuple[str, FieldSet]]
    ) -> Object:
        """Restore the removed fields that a manager owns.

        It starts with the version in which the fields were removed, because conversion to other versions may fail
        without those fields.
        """
        by_version: dict[str, FieldSet] = {}
        for other, fields in owned:
            by_version[other] = union(by_version.get(other, LEAF), fields)
        for other, fields in sorted(by_version.items(), key=lambda item: item[0] != version):
            atom = self._atom_for(other)
            if atom is None:
                continue
            merged, pruned = self._in(merged, other), self._in(pruned, other)
            owned_here = atom.named(fields)
            removed = difference(_named_fields(atom, merged), _named_fields(atom, pruned))
            changed = atom.named(atom.compare(merged, pruned)[0] or LEAF)
            # Built from the merged object, which restores what was removed inside of a list that is atomic in this
            # version, such as a metric of an autoscaler: both versions cannot own parts of such a list. Kubernetes does
            # this always. Here the pruned object stays if nothing that changed is owned in this version. Otherwise no
            # apply of an older version could remove a part of such a list, as the owner of a status has this version.
            if intersection(union(removed, changed), owned_here):
                pruned = _object(atom.remove(merged, difference(removed, owned_here)), merged)
        return pruned

    def _in(self, obj: Object, version: str) -> Object:
        return obj if obj["apiVersion"] == version else self._convert(obj, version)


def _named_fields(atom: Atom, obj: Object) -> FieldSet:
    return atom.named(atom.fields(obj) or LEAF)


def _object(value: Any, original: Object) -> Object:
    """Keep apiVersion and kind, even if everything else was removed."""
    if value is None:
        return {"apiVersion": original["apiVersion"], "kind": original["kind"]}
    if "apiVersion" not in value:
        value["apiVersion"] = original["apiVersion"]
    obj: Object = value
    return obj
