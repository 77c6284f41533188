"""The object while a write works on it: a plain dict in Kubernetes' JSON form; canonical JSON bytes ever after."""

from typing import Any

Object = dict[str, Any]
"""A decoded API object. Its `metadata` is a dict; absent and null fields are left out."""


def set_or_drop(target: Object, name: str, value: Any) -> None:
    """Set a field; None takes it away."""
    if value is None:
        target.pop(name, None)
    else:
        target[name] = value
