"""Preservation of unknown fields: fields on the server that a class does not define survive an update.

Guarantees: a field that the class does not define keeps the value that was read, at any depth. List elements are
matched by equality, then by `name`, `type`, `key` or a similar field. If the length of the list has not changed, the
remaining elements are matched by position. An element without a match is new and has no unknown fields.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from sampan.core.json.values import same

_KEYS: Final = ("name", "type", "key", "uid", "id", "ip", "mountPath", "containerPort", "port", "topologyKey", "kind")
"""Fields that identify elements of Kubernetes' lists, the most specific first."""


def with_unknown(source: Any, before: Any, after: Any) -> Any:
    """Return `source` with the changes that lead from `before` to `after`; all are JSON values.

    `source` is an object as it was read, `before` the part that its class defines, `after` the object to write.
    """
    if same(before, after):
        return source
    if isinstance(source, dict) and isinstance(before, dict) and isinstance(after, dict):
        kept = {key: value for key, value in source.items() if key not in before or key in after}
        changed = {
            key: with_unknown(source[key], before[key], value) if key in before and key in source else value
            for key, value in after.items()
        }
        return kept | changed
    if isinstance(source, list) and isinstance(before, list) and isinstance(after, list) and len(source) == len(before):
        matches = _matches(before, after)
        return [
            value if at is None else with_unknown(source[at], before[at], value)
            for value, at in zip(after, matches, strict=True)
        ]
    return after


def _matches(before: Sequence[Any], after: Sequence[Any]) -> list[int | None]:
    """Return the position in `before` for each element, or None for a new one."""
    free = dict.fromkeys(range(len(before)))
    found: list[int | None] = [None] * len(after)
    for match in (_equal, _same_key, _same_place):
        for index, value in enumerate(after):
            if found[index] is None:
                at = next(match(before, after, index, value, free), None)
                if at is not None:
                    found[index] = at
                    del free[at]
    return found


def _equal(before: Sequence[Any], after: Sequence[Any], index: int, value: Any, free: dict[int, None]) -> Iterator[int]:
    if index in free and same(before[index], value):
        yield index
    yield from (at for at in free if same(before[at], value))


def _same_key(
    before: Sequence[Any], after: Sequence[Any], index: int, value: Any, free: dict[int, None]
) -> Iterator[int]:
    if not isinstance(value, dict):
        return
    for key in _KEYS:
        if key in value:
            alike = [at for at in free if isinstance(before[at], dict) and same(before[at].get(key), value[key])]
            if len(alike) == 1:
                yield alike[0]


def _same_place(
    before: Sequence[Any], after: Sequence[Any], index: int, value: Any, free: dict[int, None]
) -> Iterator[int]:
    if len(before) == len(after) and index in free and isinstance(value, dict):
        yield index
