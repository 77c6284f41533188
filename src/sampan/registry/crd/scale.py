"""Validation of the scale subresource's numbers in a custom resource.

Source: apiextensions pkg/registry/customresource/validator.go (1.36).
"""

from collections.abc import Iterator
from typing import Any

from sampan.core.field import FieldError, Path, invalid
from sampan.core.object import Object
from sampan.patch.go_text import plain
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
            fault = _accessor(paths.label_selector, value, "string")
        if fault:
            yield invalid(_path(paths.label_selector), "", fault)


def _replicas_faults(path: str, obj: Object) -> Iterator[FieldError]:
    value, fault = _take(obj, path)
    if fault:
        yield invalid(_path(path), 0, fault)
    elif value is None:
        return
    elif type(value) is not int:
        yield invalid(_path(path), 0, _accessor(path, value, "int64"))
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
            return None, _accessor(path, value, "map[string]interface{}")
        value = value.get(name)
    return value, ""


def _accessor(path: str, value: Any, desired: str) -> str:
    kind = {str: "string", bool: "bool", int: "int64", float: "float64", list: "[]interface {}"}.get(
        type(value), "map[string]interface {}"
    )
    return f".{path} accessor error: {plain(value)} is of the type {kind}, expected {desired}"
