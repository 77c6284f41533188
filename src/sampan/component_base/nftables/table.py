"""`Table`: the desired state of a table, and the transactions that change the kernel's table to it.

It performs no I/O: the caller runs the commands, and calls `written` or `failed`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sampan.component_base.nftables.fragment import EMPTY, ElementKey, Fragment

BASE: Final = ""
"""Owner of the part that does not depend on objects of the cluster."""


@dataclass(slots=True)
class TableTransaction:
    """Changes of a table, in the order that nftables needs: nothing is used before it exists, or removed while it is in
    use.
    """

    new_sets: dict[str, str] = field(default_factory=dict)
    new_chains: dict[str, str] = field(default_factory=dict)
    """Hook of each new chain, or empty."""
    emptied: list[str] = field(default_factory=list)
    """Chains to empty: those whose rules change, and those to remove."""
    old_elements: list[ElementKey] = field(default_factory=list)
    rules: list[tuple[str, str]] = field(default_factory=list)
    """Rules to add, each with its chain."""
    new_elements: dict[ElementKey, str] = field(default_factory=dict)
    old_chains: list[str] = field(default_factory=list)
    old_sets: list[str] = field(default_factory=list)

    def commands(self, table: str) -> str:
        """Return the commands of nft, or an empty text if nothing changes."""
        lines = [
            *(f"add {_with_name(definition, table, name)}" for name, definition in self.new_sets.items()),
            *(f"add chain {table} {name}{_hook(hook)}" for name, hook in self.new_chains.items()),
            # Old rules go before elements and chains that they refer to: nftables refuses to delete what is in use.
            *(f"flush chain {table} {name}" for name in self.emptied),
            *(f"delete element {table} {where} {{ {keys} }}" for where, keys in _grouped(self.old_elements)),
            *(f"add rule {table} {chain} {rule}" for chain, rule in self.rules),
            *(f"add element {table} {where} {{ {items} }}" for where, items in _grouped(self.new_elements)),
            *(f"delete chain {table} {name}" for name in self.old_chains),
            *(f"delete set {table} {name}" for name in self.old_sets),
        ]
        return "".join(f"{line}\n" for line in lines)


class Table:
    """A table that consists of fragments. Each fragment has an owner, such as a Service, or `BASE`.

    Two owners may have the same element, such as an external address and port. The one that is first in alphabetical
    order gets it.
    """

    def __init__(self, name: str) -> None:
        """`name`: family and name of the table, as nft needs them."""
        self.name = name
        self._fragments: dict[str, Fragment] = {}
        self._claims: dict[ElementKey, tuple[str, ...]] = {}
        """Owners of each element: almost always one. A tuple of one name takes a quarter of a set's memory."""
        self._written: dict[str, Fragment] = {}
        self._written_elements: dict[ElementKey, str] = {}
        self._dirty: set[str] = set()
        self.is_known = False
        """True if the kernel's table contains everything that was written. If not, the next transaction replaces it."""

    def put(self, owner: str, fragment: Fragment) -> None:
        """Set the fragment of an owner; `EMPTY` removes it."""
        before = self._fragments.get(owner, EMPTY)
        if fragment == before:
            return
        alone = (owner,)
        for key in before.elements:
            if key in fragment.elements:
                continue
            left = tuple(each for each in self._claims.pop(key) if each != owner)
            if left:
                self._claims[key] = left
        for key in fragment.elements:
            if key not in before.elements:
                owners = self._claims.get(key)
                self._claims[key] = alone if owners is None else (*owners, owner)
        self._fragments[owner] = fragment
        if fragment == EMPTY:
            del self._fragments[owner]
        self._dirty.add(owner)

    def owners(self) -> set[str]:
        """Return the owners with a fragment."""
        return set(self._fragments)

    def fragment(self, owner: str) -> Fragment:
        """Return the sets, maps and chains that an owner has put into the table; an empty fragment if it has none."""
        return self._fragments.get(owner, EMPTY)

    def transaction(self) -> str:
        """Return the commands that change the written state to the desired state; empty if both are equal."""
        if not self.is_known:
            return self._rebuild()
        return self._changes(self._dirty).commands(self.name) if self._dirty else ""

    def written(self) -> None:
        """Record that the kernel has accepted the transaction."""
        for key in self._touched(self._dirty):
            value = self._value(key)
            if value is None:
                self._written_elements.pop(key, None)
            else:
                self._written_elements[key] = value
        for owner in self._dirty:
            self._written[owner] = self._fragments.get(owner, EMPTY)
        self._dirty.clear()
        self.is_known = True

    def failed(self) -> None:
        """Record that the kernel's table is unknown. The next transaction replaces it."""
        self.is_known = False

    def _rebuild(self) -> str:
        """Return one transaction that replaces the whole table.

        At any time, packets pass either the old table or the new one.
        """
        self._written.clear()
        self._written_elements.clear()
        self._dirty = set(self._fragments)
        # `add` first: `delete` fails for a table that does not exist, and `add` does nothing for one that does.
        replace = f"add table {self.name}\ndelete table {self.name}\nadd table {self.name}\n"
        return replace + self._changes(self._dirty).commands(self.name)

    def _changes(self, owners: Iterable[str]) -> TableTransaction:
        changes = TableTransaction()
        # In a fixed order, so that the same change always gives the same commands.
        for owner in sorted(owners):
            _change_parts(changes, self._written.get(owner, EMPTY), self._fragments.get(owner, EMPTY))
        for key in sorted(self._touched(owners)):
            # By key, not by owner: an address may pass from one Service to another in the same transaction.
            before, after = self._written_elements.get(key), self._value(key)
            if before == after:
                continue
            if before is not None:
                changes.old_elements.append(key)
            if after is not None:
                changes.new_elements[key] = after
        return changes

    def _touched(self, owners: Iterable[str]) -> set[ElementKey]:
        touched: set[ElementKey] = set()
        for owner in owners:
            touched.update(self._written.get(owner, EMPTY).elements, self._fragments.get(owner, EMPTY).elements)
        return touched

    def _value(self, key: ElementKey) -> str | None:
        owners = self._claims.get(key)
        # Any fixed choice would do, but it must not depend on the order of events, or nodes would differ.
        return self._fragments[min(owners)].elements[key] if owners else None


def _change_parts(changes: TableTransaction, before: Fragment, after: Fragment) -> None:
    for name, definition in after.sets.items():
        if name not in before.sets:
            changes.new_sets[name] = definition
    for name, rules in after.chains.items():
        known = before.chains.get(name)
        if known == rules:
            continue
        if known is None:
            changes.new_chains[name] = after.hooks.get(name, "")
        else:
            changes.emptied.append(name)
        changes.rules += [(name, rule) for rule in rules]
    gone = [name for name in before.chains if name not in after.chains]
    changes.emptied += gone
    changes.old_chains += gone
    changes.old_sets += [name for name in before.sets if name not in after.sets]


def _with_name(definition: str, table: str, name: str) -> str:
    keyword, _, rest = definition.partition(" ")
    return f"{keyword} {table} {name} {rest}"


def _hook(hook: str) -> str:
    return f" {{ {hook} }}" if hook else ""


def _grouped(elements: Iterable[ElementKey] | Mapping[ElementKey, str]) -> list[tuple[str, str]]:
    """Return each set or map with its elements as one text."""
    values = elements if isinstance(elements, Mapping) else {}
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for key in elements:
        value = values.get(key, "")
        groups[key.container].append(f"{key.key} : {value}" if value else key.key)
    return [(container, ", ".join(items)) for container, items in groups.items()]
