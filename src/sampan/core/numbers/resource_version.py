"""Parse a resourceVersion from a client. Source: apiserver pkg/storage/api_object_versioner.go (1.36)."""

from sampan.core.numbers.integers import parse_integer


def parse_resource_version(text: str) -> int:
    """Return the number; "" is 0. Raises `ValueError` with Go's message."""
    if not text:
        return 0
    return parse_integer(text, function="ParseUint", low=0, high=2**64 - 1)
