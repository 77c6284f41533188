"""Validation of the scale subresource's numbers in a custom resource.

Source: apiextensions pkg/registry/customresource/validator.go (1.36).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, invalid
from sampan.core.go_text import accessor_text
from sampan.core.object import Object
from sampan.registry.definition import ScalePaths

_INT32_MAX = 2**31 - 1


def spec_faults(paths: ScalePaths, obj: Object) -> Iterator[FieldError]:
    """Yield the faults of the desired replicas. An absent value counts as zero."""
    return _replicas_faults(paths.spec_replicas, obj)


def status_faults(paths: ScalePaths, obj: Object) -> Iterator[FieldError]:
    """Yield the faults of the current replicas and of the selector."""
    yield from _replicas_faults(paths.status_replicas, obj)
    if paths.label_selector:
        value, fault = _take(obj, paths.label_selector)
        if not fault and value is not None and not isinstance(value, str):
            fault = accessor_text(f".{paths.label_selector}", value, "string")
        if fault:
            yield invalid(_path(paths.label_selector), "", fault)


def _replicas_faults(path: str, obj: Object) -> Iterator[FieldError]:
    value, fault = _take(obj, path)
    if fault:
        yield invalid(_path(path), 0, fault)
    elif value is None:
        return
    elif type(value) is not int:
        yield invalid(_path(path), 0, accessor_text(f".{path}", value, "int64"))
    elif value < 0:
        yield invalid(_path(path), value, "should be a non-negative integer")
    elif value > _INT32_MAX:
        yield invalid(_path(path), value, f"should be less than or equal to {_INT32_MAX}")


def _path(path: str) -> Path:
    return Path(f".{path}")


def _take(obj: Object, path: str) -> tuple[Any, str]:
    """Return the value at a path, and the reason if there is none."""
    value: Any = obj
    for name in path.split("."):
        if value is None:
            return None, ""
        if not isinstance(value, dict):
            return None, accessor_text(f".{path}", value)
        value = value.get(name)
    return value, ""
