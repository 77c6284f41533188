"""What a client wrote as empty, `{}` or `[]`: decoding leaves it out, and faults show it as it was written."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sampan.core.field import FieldError

Given = Callable[[], Any]
"""Gives the object as the client wrote it."""

_next_step = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)").finditer


def with_empties(faults: Iterable[FieldError], given: Given | None) -> Iterator[FieldError]:
    """The faults of an object, where empty values that decoding left out are shown again."""
    obj: Any = None
    for fault in faults:
        if given is not None and _may_lack(fault.bad_value):
            obj = given() if obj is None else obj
            yield _filled_fault(fault, obj)
        else:
            yield fault


def _may_lack(value: object) -> bool:
    return value is None or isinstance(value, dict | list)


def _filled_fault(fault: FieldError, obj: Any) -> FieldError:
    if not _may_lack(fault.bad_value):
        return fault
    written = _found(obj, fault.field)
    if fault.bad_value is None and written:
        return fault
    return dataclasses.replace(fault, bad_value=filled(fault.bad_value, written))


def _found(obj: Any, path: str) -> Any:
    """What a path leads to; None: nothing."""
    for match in _next_step(path):
        key, name = match[1], match[2]
        if isinstance(obj, dict):
            obj = obj.get(name if key is None else key)
        elif isinstance(obj, list) and key is not None and key.isdecimal() and int(key) < len(obj):
            obj = obj[int(key)]
        else:
            return None
    return obj


def filled(value: Any, written: Any) -> Any:
    """A decoded value with the empty ones that were written beside it."""
    if value is None:
        return _only_empty(written)
    if isinstance(value, dict) and isinstance(written, dict):
        result = dict(value)
        for name, item in written.items():
            below = filled(value.get(name), item)
            if below is not None:
                result[name] = below
        return result
    if isinstance(value, list) and isinstance(written, list) and len(value) == len(written):
        return [filled(item, other) for item, other in zip(value, written, strict=True)]
    return value


def _only_empty(written: Any) -> Any:
    """A value in which nothing is but empty lists and maps; None: there is more, or nothing at all."""
    if isinstance(written, list):
        return None if written else []
    if not isinstance(written, dict):
        return None
    parts = {name: _only_empty(item) for name, item in written.items() if item is not None}
    return None if any(part is None for part in parts.values()) else parts
