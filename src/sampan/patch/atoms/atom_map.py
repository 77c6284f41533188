"""Atoms of objects: structs, maps, and values whose type is deduced from the value."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from sampan.patch.atoms.atom import ATOMIC, MISSING, MODIFIED, SAME, SCALAR, Atom, Change, remaining
from sampan.patch.copying import copy_json
from sampan.patch.field_sets.fieldset import LEAF, FieldSet, with_self, without_self
from sampan.patch.field_sets.path_element import SELF


class StructField(NamedTuple):
    """Schema of one value in an object, by its key.

    `zero` is the value that Go writes for the field of a built-in type if it is not set. It is set only for structs and
    lists that are always part of the JSON. A field with a `zero` that is added to an object counts as changed, not as
    added.
    """

    element: str
    atom: Atom
    zero: Any = MISSING


class MapAtom(Atom):
    """Atom of an object whose fields are owned one by one.

    `declared` returns a field of the struct, or None if there is no such field; `entry` is the atom of all other
    fields. Fields are looked up on first use, so a large or recursive schema costs nothing until then. `exact` means
    that all values below have a fixed type, so that Python's equality is JSON equality.
    """

    __slots__ = ("_declared", "_entry", "_exact", "_fields", "_flat")

    def __init__(
        self, declared: Callable[[str], StructField | None] | None, entry: Callable[[], Atom], *, exact: bool
    ) -> None:
        self._declared = declared
        self._entry: Atom | Callable[[], Atom] = entry
        self._exact = exact
        self._fields: dict[str, StructField] = {}
        self._flat: bool | None = None

    def field(self, name: str) -> StructField:
        """Return the field with its path element and atom."""
        known = self._fields.get(name)
        if known is not None:
            return known
        if self._declared is not None:
            found = self._declared(name)
            if found is not None:
                self._fields[name] = found
                return found
        return StructField("f:" + name, self.entry)

    @property
    def entry(self) -> Atom:
        """Return the atom of a field that the struct does not declare."""
        entry = self._entry
        if not isinstance(entry, Atom):
            entry = self._entry = entry()
        return entry

    def _is_flat(self) -> bool:
        """Report whether this is a map of scalars of one type, such as labels."""
        self._flat = self._declared is None and self._exact and self.entry is SCALAR
        return self._flat

    def added(self, value: Any) -> FieldSet:
        if not value or value.__class__ is not dict:
            return LEAF
        result: FieldSet = {SELF: LEAF}
        if self._is_flat() if self._flat is None else self._flat:
            for name in sorted(value):
                result["f:" + name] = LEAF
            return result
        fields = self._fields
        for name in sorted(value):
            field = fields.get(name) or self.field(name)
            atom = field.atom
            result[field.element] = LEAF if atom is SCALAR or atom is ATOMIC else atom.added(value[name])
        return result

    def fields(self, value: Any) -> FieldSet | None:
        if not value or value.__class__ is not dict:
            return None
        result: FieldSet = {}
        known = self._fields
        for name in sorted(value):
            item = value[name]
            element, atom, _ = known.get(name) or self.field(name)
            if atom is SCALAR or atom is ATOMIC:
                result[element] = LEAF
                continue
            owned = atom.fields(item)
            # An applied null or empty map owns the field itself. So does a key of a map, which the schema does not
            # declare.
            if item is None or item == {} or name not in known:
                owned = LEAF if owned is None else with_self(owned)
            if owned is not None:
                result[element] = owned
        return result or None

    def compare(self, old: Any, new: Any) -> Change:
        # Python's `==` takes 1, 1.0 and True for equal, which are different JSON. So it decides only for typed fields.
        if old is new or (self._exact and old == new):
            return SAME
        if not old and not new:
            # An empty map and null differ for Kubernetes, although neither has fields.
            return SAME if old.__class__ is new.__class__ else MODIFIED
        before: dict[str, Any] = old if old.__class__ is dict else {}
        after: dict[str, Any] = new if new.__class__ is dict else {}
        if self._is_flat() if self._flat is None else self._flat:
            return _compare_flat(before, after)
        if not before:
            return self._compare_with_empty(after)
        changed: FieldSet = {}
        removed: FieldSet = {}
        new_names = 0
        fields = self._fields
        for name, value in after.items():
            was = before.get(name, MISSING)
            # A fast path: most fields are unchanged, and identical or strings.
            if was is value or (value.__class__ is str and was == value):
                continue
            element, atom, zero = fields.get(name) or self.field(name)
            if was is MISSING:
                new_names += 1
                if zero is MISSING:
                    changed[element] = LEAF if atom is SCALAR or atom is ATOMIC else atom.added(value)
                    continue
                # Go writes the zero value of such a field, so for Kubernetes it was there before.
                was = zero
            if atom is SCALAR and was.__class__ is value.__class__:
                if was != value:
                    changed[element] = LEAF
                continue
            more, less = atom.compare(was, value)
            if more is not None:
                changed[element] = more
            if less is not None:
                removed[element] = less
        # Each name in `after` is new or in `before`. If the counts match, no name is gone and the search is saved.
        if len(after) - new_names < len(before):
            self._find_removed(before, after, changed, removed)
        return _in_order(changed), _in_order(removed)

    def _compare_with_empty(self, after: dict[str, Any]) -> Change:
        """Compare as `compare` does, for a new object."""
        changed: FieldSet = {}
        removed: FieldSet = {}
        fields = self._fields
        for name in sorted(after):
            element, atom, zero = fields.get(name) or self.field(name)
            if zero is MISSING:
                changed[element] = LEAF if atom is SCALAR or atom is ATOMIC else atom.added(after[name])
                continue
            more, less = atom.compare(zero, after[name])
            if more is not None:
                changed[element] = more
            if less is not None:
                removed[element] = less
        return changed or None, removed or None

    def _find_removed(
        self, before: dict[str, Any], after: dict[str, Any], changed: FieldSet, removed: FieldSet
    ) -> None:
        for name, value in before.items():
            if name in after:
                continue
            element, atom, zero = self.field(name)
            if zero is MISSING:
                removed[element] = atom.added(value)
                continue
            more, less = atom.compare(value, zero)
            if more is not None:
                changed[element] = more
            if less is not None:
                removed[element] = less

    def merge(self, old: Any, new: Any) -> Any:
        if new.__class__ is not dict:
            # structured-merge-diff treats an applied null as "no opinion" about a map that has content.
            return old if old and new is None else copy_json(new)
        if not old or old.__class__ is not dict:
            return copy_json(new)
        known = self._fields
        for name, value in new.items():
            kind = value.__class__
            if name not in old:
                old[name] = copy_json(value) if kind is dict or kind is list else value
                continue
            _, atom, _ = known.get(name) or self.field(name)
            if atom is not SCALAR or kind is dict or kind is list:
                value = atom.merge(old[name], value)
            old[name] = value
        return old

    def remove(self, value: Any, items: FieldSet) -> Any:
        if not value or value.__class__ is not dict:
            return None
        result = {}
        for name, item in value.items():
            field = self.field(name)
            removed = items.get(field.element)
            if removed is None:
                result[name] = item
            # Only fields below it are removed, not the field itself.
            elif removed and SELF not in removed:
                result[name] = remaining(field.atom.remove(item, removed), item)
        return result or None

    def named(self, items: FieldSet) -> FieldSet:
        result: FieldSet = {}
        for element, below in items.items():
            if not below:
                result[element] = below
                continue
            name = element[2:]
            field = self.field(name)
            inner = field.atom.named(below)
            result[element] = with_self(inner) if name in self._fields else inner
        return result

    def reconcile(self, items: FieldSet) -> FieldSet:
        # There is nothing to adapt to without a schema, and nothing below the values of a flat map.
        if self._declared is None and (self.entry is DEDUCED or self._is_flat()):
            return items
        result: FieldSet | None = None
        known = self._fields
        for element, below in items.items():
            if below:
                name = element[2:]
                _, atom, _ = known.get(name) or self.field(name)
                adapted = atom.reconcile(below)
                if adapted is not below:
                    if result is None:
                        # Copied at the first change only: field sets are shared and never changed in place.
                        result = dict(items)
                    result[element] = adapted
        return items if result is None else result


def _compare_flat(before: dict[str, Any], after: dict[str, Any]) -> Change:
    changed = {"f:" + name: LEAF for name, value in after.items() if before.get(name, MISSING) != value}
    if before.keys() <= after.keys():
        return _in_order(changed), None
    return _in_order(changed), _in_order({"f:" + name: LEAF for name in before if name not in after})


def _in_order(fields: FieldSet) -> FieldSet | None:
    """Sort the field elements; return None when there are none."""
    if len(fields) > 1:
        return {element: fields[element] for element in sorted(fields)}
    return fields or None


class AnyAtom(Atom):
    """Atom of a value of any type: objects use `map_atom`, lists use `list_atom`, other values are scalars."""

    __slots__ = ("_list", "_map")

    def __init__(self, map_atom: Atom, list_atom: Atom) -> None:
        self._map = map_atom
        self._list = list_atom

    def _of(self, value: Any) -> Atom:
        if value.__class__ is dict:
            return self._map
        return self._list if value.__class__ is list else SCALAR

    def added(self, value: Any) -> FieldSet:
        return self._of(value).added(value)

    def fields(self, value: Any) -> FieldSet | None:
        return None if value is None else self._of(value).fields(value)

    def compare(self, old: Any, new: Any) -> Change:
        before, after = self._of(old), self._of(new)
        if before is after:
            return before.compare(old, new)
        removed, added = self._below(old), self._below(new)
        if old is None and added is not None:
            return added, None
        if new is None and removed is not None:
            return None, removed
        return (LEAF if added is None else with_self(added)), removed

    def _below(self, value: Any) -> FieldSet | None:
        """Return all fields of an object; None when the value is empty or not an object."""
        if not value or value.__class__ is not dict:
            return None
        return without_self(self._map.added(value))

    def merge(self, old: Any, new: Any) -> Any:
        if new is None:
            return old if old and old.__class__ is dict else None
        return self._of(new).merge(old, new)

    def remove(self, value: Any, items: FieldSet) -> Any:
        return self._of(value).remove(value, items)

    def named(self, items: FieldSet) -> FieldSet:
        return self._map.named(items)

    def reconcile(self, items: FieldSet) -> FieldSet:
        return self._map.reconcile(items)


_deduced_map = MapAtom(None, lambda: DEDUCED, exact=False)
DEDUCED: Final[Atom] = AnyAtom(_deduced_map, ATOMIC)
"""Atom of values without a schema: objects field by field, lists as a whole."""
