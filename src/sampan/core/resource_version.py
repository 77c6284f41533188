"""resourceVersion as a client gives it. Source: apiserver pkg/storage/api_object_versioner.go (1.36)."""

from sampan.core.integers import parse_integer


def parse_resource_version(text: str) -> int:
    """Its number; "" is 0. Raises `ValueError` with the text that Go has for it."""
    if not text:
        return 0
    return parse_integer(text, function="ParseUint", low=0, high=2**64 - 1)
