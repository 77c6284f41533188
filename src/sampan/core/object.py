"""API objects during a write: plain dicts in Kubernetes' JSON form. Stored objects are canonical JSON bytes."""

from typing import Any

Object = dict[str, Any]
"""Decoded API object. Its `metadata` is a dict; absent and null fields are omitted."""


def set_or_drop(target: Object, name: str, value: Any) -> None:
    """Set a field, or remove it if the value is None."""
    if value is None:
        target.pop(name, None)
    else:
        target[name] = value
