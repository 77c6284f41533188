"""Return the kind of an object."""

from typing import Any

from sampan.resource import declaration


def object_kind(obj: Any) -> tuple[str, str]:
    """Return apiVersion and kind. Raises `ValueError` for a dict without them, `TypeError` for an undeclared class."""
    if isinstance(obj, dict):
        api_version, kind = obj.get("apiVersion"), obj.get("kind")
        if not api_version or not kind:
            raise ValueError("the object has no apiVersion and kind")
        return api_version, kind
    info = declaration(type(obj)).info
    return info.api_version, info.kind
