"""Atoms: how values of one schema node are compared, merged and owned. Maps and lists have files of their own.

A missing value is `MISSING`; None is JSON null, which is a value.
Source: structured-merge-diff typed/{compare,merge,remove,tofieldset,reconcile_schema}.go (v6).
"""

from typing import Any, Final

from sampan.patch.copying import copy_json
from sampan.patch.fieldset import LEAF, FieldSet

MISSING: Final[Any] = type("Missing", (), {"__repr__": lambda self: "MISSING"})()

Change = tuple[FieldSet | None, FieldSet | None]
"""What was added or modified, and what was removed; None = nothing (an empty set would mean the value itself)."""
SAME: Final[Change] = (None, None)
MODIFIED: Final[Change] = (LEAF, None)


class ElementError(Exception):
    """A list item has no identity, so the list cannot be merged or owned item by item."""


def same_value(old: Any, new: Any) -> bool:
    """Equality of JSON values: 1 and 1.0 are equal, 1 and true are not."""
    if old.__class__ is new.__class__:
        if old.__class__ is dict:
            return len(old) == len(new) and all(key in new and same_value(old[key], new[key]) for key in old)
        if old.__class__ is list:
            return len(old) == len(new) and all(map(same_value, old, new))
        return bool(old == new)
    return (
        isinstance(old, int | float)
        and isinstance(new, int | float)
        and bool
        not in (
            old.__class__,
            new.__class__,
        )
        and old == new
    )


class Atom:
    """A value that is owned, compared and replaced as a whole: a scalar. The other kinds override."""

    __slots__ = ()

    def added(self, value: Any) -> FieldSet:
        """Everything in a value that was not there before, itself included."""
        return LEAF

    def fields(self, value: Any) -> FieldSet | None:
        """What someone who applies this value owns; None = nothing. Its parent decides whether it is a member."""
        return LEAF

    def compare(self, old: Any, new: Any) -> Change:
        """What changed between two values."""
        return SAME if same_value(old, new) else MODIFIED

    def merge(self, old: Any, new: Any) -> Any:
        """`old` with `new` applied on top. `old` is consumed, `new` is left alone and not referred to."""
        return copy_json(new)

    def remove(self, value: Any, items: FieldSet) -> Any:
        """The value without some fields and items below it. None when nothing is left."""
        return value

    def named(self, items: FieldSet) -> FieldSet:
        """The set, with every named field of a struct that has members below it made a member too."""
        return items

    def reconcile(self, items: FieldSet) -> FieldSet:
        """The set, adapted to a schema in which something has become atomic since it was written."""
        return items


class AtomicAtom(Atom):
    """A list or map that is owned as a whole."""

    __slots__ = ()

    def reconcile(self, items: FieldSet) -> FieldSet:
        return LEAF


SCALAR: Final = Atom()
ATOMIC: Final = AtomicAtom()
