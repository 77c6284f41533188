"""Compute the difference of two JSON values as a JSON patch (RFC 6902), and apply it to a third value."""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from sampan.core.json.values import same
from sampan.resource import Object

Operation = dict[str, Any]
"""One operation of a JSON patch: `{"op": "replace", "path": "/spec/replicas", "value": 3}`."""

ABSENT: Final = object()


def json_patch_between(before: Object, after: Object) -> list[Operation]:
    """Return the operations that turn `before` into `after`, in order; an empty list if they are equal.

    Uses `add`, `remove` and `replace`. Fields are visited by name. In lists, an equal beginning and end stay, and the
    middle is changed item by item.
    """
    return list(_differences(before, after, ""))


def carried_over(actual: Any, before: Any, after: Any) -> Any:
    """Apply the change from `before` to `after` to `actual`.

    `before` is the part of `actual` that a program has decoded. Other fields of `actual` stay: the program does not
    define them, or does not write them because they have their default. `ABSENT` represents a missing field.
    """
    if before is not ABSENT and after is not ABSENT and same(before, after):
        return actual
    if isinstance(actual, dict) and isinstance(after, dict):
        return _carried_fields(actual, before if isinstance(before, dict) else {}, after)
    if isinstance(actual, list) and isinstance(before, list) and isinstance(after, list) and len(actual) == len(before):
        return _carried_items(actual, before, after)
    return after


def _carried_fields(actual: Object, before: Object, after: Object) -> Object:
    result = dict(actual)
    for name in {**before, **after}:
        if name not in after:
            result.pop(name, None)
        else:
            result[name] = carried_over(actual.get(name, ABSENT), before.get(name, ABSENT), after[name])
            if result[name] is ABSENT:
                del result[name]
    return result


def _carried_items(actual: list[Any], before: list[Any], after: list[Any]) -> list[Any]:
    """Match list items, so that fields that were not decoded stay with their item, also at another position."""
    places: dict[bytes, list[int]] = {}
    for index, item in enumerate(before):
        places.setdefault(_text(item), []).append(index)
    free = set(range(len(before)))
    found: list[int | None] = []
    for place, item in enumerate(after):
        origins = places.get(_text(item))
        if not origins:
            found.append(None)
            continue
        origin = place if place in origins else origins[0]
        origins.remove(origin)
        free.discard(origin)
        found.append(origin)
    return [
        actual[origin]
        if origin is not None
        else carried_over(actual[place], before[place], item)
        if place in free
        else item
        for place, (origin, item) in enumerate(zip(found, after, strict=True))
    ]


def _text(item: Any) -> bytes:
    return orjson.dumps(item, option=orjson.OPT_SORT_KEYS)


def _differences(before: Any, after: Any, path: str) -> Iterator[Operation]:
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _field_differences(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _item_differences(before, after, path)
    else:
        yield {"op": "replace", "path": path, "value": after}


def _field_differences(before: Object, after: Object, path: str) -> Iterator[Operation]:
    for name in sorted({*before, *after}):
        place = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in after:
            yield {"op": "remove", "path": place}
        elif name not in before:
            yield {"op": "add", "path": place, "value": after[name]}
        else:
            yield from _differences(before[name], after[name], place)


def _item_differences(before: list[Any], after: list[Any], path: str) -> Iterator[Operation]:
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and same(before[start], after[start]):
        start += 1
    tail = 0
    while tail < shorter - start and same(before[-1 - tail], after[-1 - tail]):
        tail += 1
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    for index in range(min(len(old), len(new))):
        yield from _differences(old[index], new[index], f"{path}/{start + index}")
    for index in reversed(range(len(new), len(old))):
        yield {"op": "remove", "path": f"{path}/{start + index}"}
    for index in range(len(old), len(new)):
        yield {"op": "add", "path": f"{path}/{start + index}", "value": new[index]}
