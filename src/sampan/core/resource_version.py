"""resourceVersion as a client gives it. Source: apiserver pkg/storage/api_object_versioner.go (1.36)."""

from sampan.core.field import quote


def parse_resource_version(text: str) -> int:
    """Its number; "" is 0. Raises `ValueError` with the text that Go has for it."""
    if not text:
        return 0
    is_number = text.isascii() and text.isdigit()
    if not is_number or len(text.lstrip("0")) > 20 or int(text) >= 2**64:
        reason = "value out of range" if is_number else "invalid syntax"
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: {reason}")
    return int(text)
