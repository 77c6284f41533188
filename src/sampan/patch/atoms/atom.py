"""Atoms: compare, merge and own the values of one schema node. Lists and maps have their own modules.

A missing value is `MISSING`; None is JSON null, which is a value.
Source: structured-merge-diff typed/{compare,merge,remove,tofieldset,reconcile_schema}.go (v6).
"""

from typing import Any, Final

from sampan.core.json.values import same_by_number
from sampan.patch.copying import copy_json
from sampan.patch.field_sets.fieldset import LEAF, FieldSet

MISSING: Final[Any] = type("Missing", (), {"__repr__": lambda self: "MISSING"})()

Change = tuple[FieldSet | None, FieldSet | None]
"""Added or modified fields, and removed fields. None means no field, because an empty field set would mean the value
itself.
"""
SAME: Final[Change] = (None, None)
MODIFIED: Final[Change] = (LEAF, None)


class ElementError(Exception):
    """A list item has no identity, so the list cannot be merged or owned item by item."""


def remaining(left: Any, value: Any) -> Any:
    """Return what is left of a value after the removal of fields below it: an empty map or list, not null.

    Source: structured-merge-diff typed/remove.go doMap, doList (v6.3.1).
    """
    if left is not None:
        return left
    return {} if isinstance(value, dict) else [] if isinstance(value, list) else None


class Atom:
    """Atom of a scalar: the value is owned, compared and replaced as a whole. Subclasses handle the other types."""

    __slots__ = ()

    def added(self, value: Any) -> FieldSet:
        """Return all fields of a value that did not exist before, including the value itself."""
        return LEAF

    def fields(self, value: Any) -> FieldSet | None:
        """Return the fields that a manager owns after it applied this value, or None for no field.

        The parent's atom decides whether the value itself is a member.
        """
        return LEAF

    def compare(self, old: Any, new: Any) -> Change:
        """Return the fields that differ between two values."""
        return SAME if same_by_number(old, new) else MODIFIED

    def merge(self, old: Any, new: Any) -> Any:
        """Return `old` with `new` applied to it. May change `old`; does not change `new` and shares nothing with it."""
        return copy_json(new)

    def remove(self, value: Any, items: FieldSet) -> Any:
        """Return the value without some fields and items, or None when nothing remains."""
        return value

    def named(self, items: FieldSet) -> FieldSet:
        """Return the set with every struct field that has members below it added as a member."""
        return items

    def reconcile(self, items: FieldSet) -> FieldSet:
        """Return the set adapted to the current schema.

        A node may have become atomic since the set was written.
        """
        return items


class AtomicAtom(Atom):
    """Atom of a list or map that is owned as a whole."""

    __slots__ = ()

    def reconcile(self, items: FieldSet) -> FieldSet:
        return LEAF


SCALAR: Final = Atom()
ATOMIC: Final = AtomicAtom()
