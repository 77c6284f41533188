"""Merge lists for strategic merge patch, by key or as sets; the order of the patch takes precedence.

Source: apimachinery pkg/util/strategicpatch/patch.go (1.36).
"""

from collections.abc import Callable
from typing import Any

from sampan.core.go_text import json_kind, plain
from sampan.core.object import Object
from sampan.patch.errors import not_applicable, unexpected

_DIRECTIVE = "$patch"

MergeItems = Callable[[Object, Object], Object]
"""Function that merges an item of the patch into the item with the same key. It may change both."""


def merge(original: list[Any], patch: list[Any], merge_key: str, merge_items: MergeItems) -> list[Any]:
    """Return the merged list. Raises 422 for lists of lists, 500 for mixed items or an item without its merge key.

    Changes `original` as Go changes the array of its slice. A later `in_order` gets it, and orders by it.
    """
    if not original and not patch:
        return original
    if not are_maps(original, patch):
        merged = _without_duplicates(original + patch)
        return _interleave(merged, patch, original, "")
    if not merge_key:
        raise unexpected("cannot merge lists without merge key for struct")
    # Directives first: an item may be deleted and added again in one patch.
    present, added = _follow_directives(original, patch, merge_key)
    merged = _merge_maps(list(present), added, merge_key, merge_items)
    if len(patch) > len(added):
        _overwrite(original, patch, merged[len(present) :], merge_key)
    return _interleave(merged, added, present, merge_key)


def _overwrite(array: list[Any], patch: list[Any], appended: list[Any], merge_key: str) -> None:
    """Change a list as Go changes the array below a slice, of which items are deleted and to which others are appended.

    A deletion moves the items behind it, and the last one stays at the end, too. Appended items then overwrite the end.
    So new items have a place in the server's order if the patch also deletes some.
    """
    length = len(array)
    for item in patch:
        if item.get(_DIRECTIVE) != "delete":
            continue
        key = item[merge_key]
        index = 0
        while index < length:
            if array[index].get(merge_key) == key:
                array[index : length - 1] = array[index + 1 : length]
                length -= 1
            else:
                index += 1
    if not any(item.get(_DIRECTIVE) == "replace" for item in patch):
        end = min(len(array), length + len(appended))
        array[length:end] = appended[: end - length]


def in_order(merged: list[Any], order: list[Any], original: list[Any], patch: list[Any], merge_key: str) -> list[Any]:
    """Return `merged` in the order of a `$setElementOrder` list.

    Other items keep their relative position in `original`.
    """
    maps = are_maps(original, patch)
    return _interleave(merged, order, original, merge_key if maps else "")


def check_order(patch: list[Any], order: list[Any], merge_key: str) -> None:
    """Check that a `$setElementOrder` list names all items of the patch, in their order. Raises 500 otherwise."""
    if not patch or not order:
        return
    kept = [item for item in patch if not (merge_key and _checked_map(item, merge_key).get(_DIRECTIVE) == "delete")]
    position = 0
    for item in order:
        # Directives other than delete have no place in the order.
        while position < len(kept) and isinstance(kept[position], dict) and _DIRECTIVE in kept[position]:
            position += 1
        if position == len(kept):
            return
        if _key(kept[position], merge_key) == _key(item, merge_key):
            position += 1
    if any(not (isinstance(item, dict) and _DIRECTIVE in item) for item in kept[position:]):
        raise unexpected(
            f"The order in patch list:\n{plain(patch)}\n doesn't match $setElementOrder list:\n{plain(order)}\n"
        )


def delete_scalars(current: list[Any], unwanted: list[Any]) -> list[Any]:
    """Return a list of scalars without the unwanted ones. Raises 422 if an unwanted value is not a scalar."""
    if any(isinstance(item, dict | list) for item in unwanted):
        raise not_applicable()
    removed = set(unwanted)
    return [item for item in current if item not in removed]


def are_maps(*lists: list[Any]) -> bool:
    """Report whether the items are maps. Raises 422 for lists of lists, 500 when the items are not of one type."""
    first: type | None = None
    for items in lists:
        for item in items:
            if first is None:
                first = item.__class__
                if first is list:
                    raise not_applicable()
            elif item.__class__ is not first:
                raise unexpected(f"list element types are not identical: {plain(list(lists))}")
    if first is None:
        raise unexpected("no elements in any given slices")
    return first is dict


def _checked_map(item: Any, merge_key: str) -> Object:
    if not isinstance(item, dict):
        text = f"items of a list with merge key {merge_key} must be objects, but one has type {json_kind(item)}"
        raise unexpected(text)
    return item


def _key(item: Any, merge_key: str) -> Any:
    """Return the identity of an item: its merge key, or the item itself if there is no merge key."""
    if not merge_key:
        return item
    found = _checked_map(item, merge_key)
    if merge_key not in found:
        raise unexpected(f"map: {plain(found)} does not contain declared merge key: {merge_key}")
    key = found[merge_key]
    if isinstance(key, dict | list):
        raise not_applicable()
    return key


def _follow_directives(original: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Apply the items that are directives; return both lists without them."""
    kept, replace, deleted = [], False, set()
    for item in patch:
        directive = item.get(_DIRECTIVE)
        if _DIRECTIVE not in item:
            kept.append(item)
        elif directive == "delete":
            deleted.add(_key(item, merge_key))
        elif directive == "replace":
            replace = True
        elif directive == "merge":
            raise unexpected("merging lists cannot yet be specified in the patch")
        else:
            raise unexpected(f"unknown patch type: {plain(directive)} in map: {plain(item)}")
    # `get`, not `_key`: Kubernetes tolerates items of the original without their merge key here.
    if deleted:
        original = [found for found in original if found.get(merge_key) not in deleted]
    return (kept, []) if replace else (original, kept)


def _merge_maps(merged: list[Any], patch: list[Any], merge_key: str, merge_items: MergeItems) -> list[Any]:
    positions: dict[Any, int] = {}
    for index, item in enumerate(merged):
        # The first of several items with the same key is merged, as in Kubernetes, which searches from the start.
        if merge_key in item:
            positions.setdefault(item[merge_key], index)
    for item in patch:
        key = _key(item, merge_key)
        index = positions.get(key, -1)
        if index >= 0:
            merged[index] = merge_items(merged[index], item)
        else:
            positions[key] = len(merged)
            merged.append(item)
    return merged


def _without_duplicates(items: list[Any]) -> list[Any]:
    return list(dict.fromkeys(items))


def _interleave(merged: list[Any], order: list[Any], server_order: list[Any], merge_key: str) -> list[Any]:
    """Sort the items that are in `order` by that order, and all other items by the server's order. Then interleave the
    two lists.

    Interleaving keeps the server's order between items of the two lists.
    """
    # Reversed, so that the first of several equal items decides.
    desired = {_key(item, merge_key): index for index, item in reversed(list(enumerate(order)))}
    known: dict[Any, int] = {}
    for index, item in enumerate(server_order):
        known.setdefault(_key(item, merge_key), index)
    named: list[tuple[Any, Any]] = []
    others: list[tuple[Any, Any]] = []
    for item in merged:
        key = _key(item, merge_key)
        (named if key in desired else others).append((key, item))
    named.sort(key=lambda pair: desired[pair[0]])
    # Items that the server does not have (-1) come first; the sort is stable, so they keep their order.
    others.sort(key=lambda pair: known.get(pair[0], -1))
    result = []
    position = 0
    for key, item in named:
        here = known.get(key, -1)
        # An item that the server does not know has no position to compare, so it is placed without waiting.
        while position < len(others) and here >= 0 and 0 <= known.get(others[position][0], -1) < here:
            result.append(others[position][1])
            position += 1
        result.append(item)
    result.extend(item for _, item in others[position:])
    return result
