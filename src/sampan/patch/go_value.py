"""Decoded JSON as Go's `fmt` prints it, which is how errors about strategic merge patches show the patch."""

from typing import Any


def go_value(value: Any) -> str:
    """`map[spec:map[replicas:2]]`: keys sorted, lists without commas."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{go_value(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_value, value))}]"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
