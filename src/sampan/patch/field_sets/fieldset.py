"""Field sets: the fields of an object that one manager owns, stored in the form of FieldsV1.

A set is a dict of path elements (`f:spec`, `k:{"name":"x"}`); each value is again such a dict. An element is a
*member* when its dict is empty or contains `.`; otherwise only elements below it are members. The empty dict at the
root is the empty set.

Guarantees: sets are never changed after they are built, so they can share parts (all leaves are one dict). All
functions here return normalized sets: `.` comes first and never alone, siblings are in Kubernetes' order, and an
empty dict is always a member.
Source: structured-merge-diff fieldpath/{set,serialize}.go (v6).
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sampan.patch.field_sets.path_element import SELF, canonical, element_text, sort_key

FieldSet = dict[str, Any]

LEAF: FieldSet = {}
"""Children of a member without members below it. As a whole field set, it is the empty set."""


def parse(raw: Any) -> FieldSet:
    """Parse FieldsV1 from a client. Drops elements of unknown kinds. Raises `ValueError` when it is malformed."""
    if raw is None:
        return LEAF
    if not isinstance(raw, dict):
        raise ValueError("FieldsV1 must be an object")
    return without_self(_parse(raw))


def _parse(raw: FieldSet) -> FieldSet:
    found: FieldSet = {}
    for key, child in raw.items():
        if key == SELF:
            found[SELF] = LEAF
            continue
        element = canonical(key)
        if element is None:
            continue
        if child is not None and not isinstance(child, dict):
            raise ValueError(f"expected an object at {key}")
        found[element] = _parse(child or {})
    return normal(in_order(found))


def in_order(fields: FieldSet) -> FieldSet:
    """Return the set with its top-level elements in Kubernetes' order."""
    if len(fields) < 2:
        return fields
    keys = sorted(fields, key=sort_key)
    return {key: fields[key] for key in keys}


def normal(fields: FieldSet) -> FieldSet:
    """Return `LEAF` for a dict that contains only `.`."""
    return LEAF if len(fields) == 1 and SELF in fields else fields


def without_self(fields: FieldSet) -> FieldSet:
    """Return the members below the root, without the root itself."""
    return {key: child for key, child in fields.items() if key != SELF} if SELF in fields else fields


def with_self(fields: FieldSet) -> FieldSet:
    """Return the set with the root itself as a member."""
    return {SELF: LEAF, **fields} if fields and SELF not in fields else fields


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the members of either set. Returns `left` itself if `right` adds nothing."""
    result: FieldSet | None = None
    grown = False
    for key, other in right.items():
        mine = left.get(key)
        if mine is None:
            merged, grown = other, True
        elif mine is other:
            continue
        elif not mine:
            # The field itself is a member in `left` (a leaf), and must stay one next to the members below it.
            merged = with_self(other)
        elif not other:
            merged = with_self(mine)
        else:
            merged = union(mine, other)
        if merged is not mine:
            if result is None:
                result = dict(left)
            result[key] = merged
    if result is None:
        return left
    return in_order(result) if grown else result


def union_of(sets: Sequence[FieldSet]) -> FieldSet:
    """Return the members of any of the sets. It joins neighbours first, so that it does not copy a large set for each
    small one.
    """
    left = list(sets)
    while len(left) > 1:
        pairs = zip(left[::2], left[1::2], strict=False)
        left = [union(first, second) for first, second in pairs] + left[len(left) & ~1 :]
    return left[0] if left else LEAF


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the members of both sets."""
    result: FieldSet = {}
    for key, mine in left.items():
        other = right.get(key)
        if other is None:
            continue
        if mine and other:
            shared = intersection(mine, other)
            if shared:
                result[key] = normal(shared)
        elif (not mine or SELF in mine) and (not other or SELF in other):
            result[key] = LEAF
    return result


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the members of `left` that are not in `right`, including those below a member of `right`.

    Returns `left` itself when nothing is removed.
    """
    changed = False
    result: FieldSet = {}
    for key, mine in left.items():
        other = right.get(key)
        if other is None:
            result[key] = mine
            continue
        if not mine:
            if other and SELF not in other:
                result[key] = mine
            else:
                changed = True
            continue
        # A leaf in `right` removes the field itself, but not the members below it, which have their own path.
        rest = difference(mine, other) if other else without_self(mine)
        if rest is not mine:
            changed = True
        if rest:
            result[key] = normal(rest)
    return result if changed else left


def recursive_difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """Return the members of `left` that are neither in `right` nor below a member of it."""
    result: FieldSet = {}
    for key, mine in left.items():
        other = right.get(key)
        if other is None:
            result[key] = mine
        elif not other or SELF in other:
            continue
        elif not mine:
            result[key] = mine
        else:
            rest = recursive_difference(mine, other)
            if rest:
                result[key] = normal(rest)
    return result


def leaves(fields: FieldSet) -> FieldSet:
    """Return the members that have no members below them."""
    return {key: leaves(child) if child else LEAF for key, child in fields.items() if key != SELF}


def has(fields: FieldSet, *path: str) -> bool:
    """Report whether the field at a path of elements is a member."""
    if not path:
        return False
    for element in path:
        child = fields.get(element)
        if child is None:
            return False
        fields = child
    return not fields or SELF in fields


def paths(fields: FieldSet) -> Iterator[tuple[str, ...]]:
    """Yield all members as tuples of elements: at each level the members first, then those below them."""
    return _paths(fields, ())


def _paths(fields: FieldSet, prefix: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for element, child in fields.items():
        if element != SELF and (not child or SELF in child):
            yield (*prefix, element)
    for element, child in fields.items():
        if child:
            yield from _paths(child, (*prefix, element))


def path_text(path: tuple[str, ...]) -> str:
    """Format a path for error messages: `.spec.containers[name="x"].image`."""
    return "".join(map(element_text, path))
