"""Atoms of lists that are owned item by item: sets of scalars, and lists of maps identified by key fields."""

from collections.abc import Callable
from typing import Any

from sampan.core.json.values import same_by_number
from sampan.patch.atoms.atom import MISSING, MODIFIED, SAME, SCALAR, Atom, Change, ElementError, remaining
from sampan.patch.atoms.by_text import ByText
from sampan.patch.copying import copy_json
from sampan.patch.field_sets.fieldset import LEAF, FieldSet, in_order, with_self, without_self
from sampan.patch.field_sets.path_element import SELF, element_text, json_text

Key = tuple[str, Any]
"""Name of a key field, and its default (`MISSING` if it has none)."""


class ListAtom(Atom):
    """Atom of a list that merges item by item.

    `keys` are the key fields of a list of maps; without keys the list is a set of scalars. Two items may have the same
    identity; they are then owned together.

    Many objects are made from one template, and most writes leave a list as it was. So results for whole lists are
    cached by their JSON text. Sharing field sets is safe because they are never changed.
    """

    __slots__ = ("_added_by_text", "_exact", "_fields_by_text", "_item", "_keys", "_names", "checked")

    def __init__(self, keys: tuple[Key, ...], item: Callable[[], Atom], *, exact: bool) -> None:
        self._names = tuple(name for name, _ in keys)
        self._keys = [
            (name, json_text(name) + ":", None if default is MISSING else f"{json_text(name)}:{json_text(default)}")
            for name, default in sorted(keys, key=lambda key: key[0])
        ]
        self._item: Atom | Callable[[], Atom] = item
        self._exact = exact
        self._added_by_text: ByText[FieldSet] = ByText()
        self._fields_by_text: ByText[FieldSet] = ByText()
        self.checked: ByText[bool] = ByText()
        """Cache of lists that have no type errors."""

    @property
    def item(self) -> Atom:
        """Return the rules for merging one item. They are made at the first call, because schemas may be recursive."""
        item = self._item
        if not isinstance(item, Atom):
            item = self._item = item()
        return item

    def element(self, item: Any) -> str:
        """Return the path element of an item. Raises `ElementError` when the item has no identity."""
        if not self._keys:
            if item is None:
                raise ElementError("associative list without keys has an element that's an explicit null")
            if item.__class__ is dict:
                raise ElementError("associative list without keys has an element that's a map type")
            if item.__class__ is list:
                raise ElementError("not supported: associative list with lists as elements")
            return "v:" + json_text(item)
        if item.__class__ is not dict:
            kind = "a null element" if item is None else "non-map elements"
            raise ElementError(f"associative list with keys may not have {kind}")
        parts = []
        for name, prefix, default in self._keys:
            value = item.get(name, MISSING)
            if value is not MISSING:
                parts.append(prefix + json_text(value))
            elif default is not None:
                parts.append(default)
        if not parts:
            names = " ".join(json_text(name) for name in self._names)
            raise ElementError(
                f"associative list with keys has an element that omits all key fields [{names}] "
                "(and doesn't have default values for any key fields)"
            )
        return "k:{" + ",".join(parts) + "}"

    def _index(self, items: Any) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """Return the items by path element, and all items of each element that occurs more than once."""
        found: dict[str, Any] = {}
        repeated: dict[str, list[Any]] = {}
        if items.__class__ is list:
            for item in items:
                element = self.element(item)
                if element not in found:
                    found[element] = item
                elif element in repeated:
                    repeated[element].append(item)
                else:
                    repeated[element] = [found[element], item]
        return found, repeated

    def added(self, value: Any) -> FieldSet:
        if not value or value.__class__ is not list:
            return LEAF
        return self._added_by_text.of(value, self._added)

    def _added(self, value: Any) -> FieldSet:
        found, repeated = self._index(value)
        added = self.item.added
        below = {element: LEAF if element in repeated else added(item) for element, item in found.items()}
        return {SELF: LEAF, **in_order(below)}

    def fields(self, value: Any) -> FieldSet | None:
        if not value or value.__class__ is not list:
            return None
        return self._fields_by_text.of(value, self._fields)

    def _fields(self, value: Any) -> FieldSet:
        found, repeated = self._index(value)
        fields = self.item.fields
        return in_order(
            {
                element: LEAF if element in repeated else with_self(fields(item) or LEAF)
                for element, item in found.items()
            }
        )

    def compare(self, old: Any, new: Any) -> Change:
        if old is new or (self._exact and old == new):
            return SAME
        if not old and not new:
            return SAME if old.__class__ is new.__class__ else MODIFIED
        if not old and new.__class__ is list:
            return without_self(self.added(new)), None
        before, twice_before = self._index(old)
        after, twice_after = self._index(new)
        changed: FieldSet = {}
        removed: FieldSet = {}
        compare = self.item.compare
        for element, item in after.items():
            if element in twice_before or element in twice_after:
                self._compare_repeated(
                    element,
                    twice_before.get(element) or ([before[element]] if element in before else []),
                    twice_after.get(element) or [item],
                    (changed, removed),
                )
            elif element in before:
                more, less = compare(before[element], item)
                if more is not None:
                    changed[element] = more
                if less is not None:
                    removed[element] = less
            else:
                changed[element] = self.item.added(item)
        for element, item in before.items():
            if element not in after:
                removed[element] = LEAF if element in twice_before else self.item.added(item)
        return in_order(changed) or None, in_order(removed) or None

    def _compare_repeated(
        self, element: str, before: list[Any], after: list[Any], change: tuple[FieldSet, FieldSet]
    ) -> None:
        """Compare items with the same identity. If both lists have several of them, compare them as one value."""
        changed, removed = change
        if len(before) > 1 and len(after) > 1:
            if not same_by_number(before, after):
                changed[element] = LEAF
        elif len(before) > 1:
            changed[element] = self.item.added(after[0])
            removed[element] = LEAF
        else:
            changed[element] = LEAF
            if before:
                removed[element] = self.item.added(before[0])

    def merge(self, old: Any, new: Any) -> Any:
        if new.__class__ is not list:
            return old if old and new is None else copy_json(new)
        if not old or old.__class__ is not list:
            return copy_json(new)
        return _Merge(self, old, new).run() if new else old

    def merge_item(self, old: Any, new: Any) -> Any:
        """Return one item with `new` applied to it."""
        return copy_json(new) if old is MISSING else self.item.merge(old, new)

    def remove(self, value: Any, items: FieldSet) -> Any:
        if not value or value.__class__ is not list:
            return None
        result = []
        for item in value:
            removed = items.get(self.element(item))
            if removed is None:
                result.append(item)
            elif removed and SELF not in removed:
                result.append(remaining(self.item.remove(item, removed), item))
        return result or None

    def named(self, items: FieldSet) -> FieldSet:
        return {element: self.item.named(below) if below else below for element, below in items.items()}

    def reconcile(self, items: FieldSet) -> FieldSet:
        item = self.item
        if item is SCALAR:
            return items
        result: FieldSet | None = None
        for element, below in items.items():
            if below:
                adapted = item.reconcile(below)
                if adapted is not below:
                    if result is None:
                        result = dict(items)
                    result[element] = adapted
        return items if result is None else result


class _Merge:
    """Merge of two lists.

    Applied items follow the order of the applied list; other items keep their relative position.
    """

    def __init__(self, atom: ListAtom, old: list[Any], new: list[Any]) -> None:
        self.atom = atom
        self.old = old
        self.old_elements = [atom.element(item) for item in old]
        self.new_elements = [atom.element(item) for item in new]
        self.old_items: dict[str, Any] = {}
        for element, item in zip(self.old_elements, old, strict=True):
            # The applied item replaces duplicates as a whole: there is no single old item to merge with.
            self.old_items[element] = None if element in self.old_items else item
        self.new_items = dict(zip(self.new_elements, new, strict=True))
        if len(self.new_items) != len(new):
            repeated = next(e for e in self.new_elements if self.new_elements.count(e) > 1)
            raise ElementError(f"duplicate entries for key {element_text(repeated)}")

    def run(self) -> list[Any]:
        shared = [element for element in self.new_elements if element in self.old_items]
        result: list[Any] = []
        merged: set[str] = set()
        next_shared = 0
        left = right = 0
        while left < len(self.old) or right < len(self.new_elements):
            at_new = right < len(self.new_elements)
            if left < len(self.old):
                element = self.old_elements[left]
                if element not in self.new_items:
                    # Only in the old list: keep its place.
                    result.append(self.old[left])
                    left += 1
                    continue
                desired = shared[next_shared] if next_shared < len(shared) else None
                if at_new and element != self.new_elements[right] and desired not in (None, element):
                    # In both lists, but the applied list has it later: it is added when `right` reaches it.
                    left += 1
                    continue
                if element in merged or (at_new and element == self.new_elements[right]):
                    left += 1
            if at_new:
                element = self.new_elements[right]
                merged.add(element)
                old = self.old_items.get(element, MISSING)
                result.append(self.atom.merge_item(old, self.new_items[element]))
                right += 1
                if next_shared < len(shared) and shared[next_shared] == element:
                    next_shared += 1
        return result
