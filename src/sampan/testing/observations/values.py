"""Values of objects in a form in which runs can be compared, and their differences."""

import re
from collections.abc import Iterator
from typing import Any, Final

from sampan.testing.observations.timeline import MASK

_SECRETS: Final = "/registry/secrets/"
_MASKED: Final = frozenset(
    {"uid", "resourceVersion", "creationTimestamp", "generation", "observedGeneration", "managedFields"}
    | {"podIP", "podIPs"}  # A node gives them to its Pods in the order in which they come.
    | {"endpoints.kubernetes.io/last-change-trigger-time"}  # It is there if the last change came from a Pod.
)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""A uid, also in a name that contains one, such as that of a provisioned PersistentVolume."""
GONE: Final = object()
"""Value of an absent field."""


def masked(value: Any) -> Any:
    """Return a value without the fields that differ in each run: uids, versions and times.

    Annotations that are empty without these are omitted.
    """
    if isinstance(value, dict):
        fields = {
            key: "set" if key == "deletionTimestamp" else masked(_by_type(each) if key == "conditions" else each)
            for key, each in value.items()
            if key not in _MASKED
        }
        return {key: each for key, each in fields.items() if key != "annotations" or each}
    if isinstance(value, list):
        return [masked(each) for each in value]
    return _TIME.sub("<time>", value) if isinstance(value, str) else value


def without_uids(value: Any) -> Any:
    """Return a value with `<uid>` in place of each uid: two runs have others. In one run, uids distinguish objects."""
    if isinstance(value, dict):
        return {key: without_uids(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_uids(each) for each in value]
    return UID.sub("<uid>", value) if isinstance(value, str) else value


def compared(path: str, reference: Any, found: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path and both values of each difference. A list is one value."""
    if reference == found:
        return
    if isinstance(reference, dict) and isinstance(found, dict):
        for key in sorted({*reference, *found}):
            yield from compared(f"{path}.{key}", reference.get(key, GONE), found.get(key, GONE))
    else:
        yield path, reference, found


def lines_of(path: str, reference: Any, found: Any) -> Iterator[str]:
    """Yield a line for each difference. Values of Secrets are masked."""
    for place, before, now in compared(path, reference, found):
        if now is GONE:
            yield f"{short(place)}: missing"
        elif before is GONE:
            yield f"{short(place)}: left over"
        elif place.startswith(_SECRETS):
            yield f"{short(place)}: {MASK} instead of another value"
        else:
            yield f"{short(place)}: {_text(now)} instead of {_text(before)}"


def short(path: str) -> str:
    """Return a path without the prefix of all keys."""
    return path.removeprefix("/registry/")


def _by_type(conditions: Any) -> Any:
    """Sort conditions: their type is their key, and their order only shows which one changed last."""
    if isinstance(conditions, list) and all(isinstance(each, dict) and "type" in each for each in conditions):
        return sorted(conditions, key=lambda each: str(each["type"]))
    return conditions


def _text(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
