"""Events: conversion between events.k8s.io/v1 and the hub, core/v1.

Source: pkg/apis/events/v1/conversion.go (1.36).
"""

from sampan.core.object import Object
from sampan.registry.api_version_conversion import ApiVersionConversion

_HUB_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_ALWAYS_IN_HUB = ("reportingController", "reportingInstance")
_NAMES = {hub: name for name, hub in _HUB_NAMES.items()}


def _rename(obj: Object, names: dict[str, str]) -> Object:
    for old, new in names.items():
        if old in obj:
            obj[new] = obj.pop(old)
    return obj


class EventConversion(ApiVersionConversion):
    """Conversion of events, which renames fields."""

    def __init__(self) -> None:
        super().__init__("events.k8s.io/v1", "v1")

    def to_hub(self, obj: Object) -> Object:
        """Return the event in core/v1."""
        return _rename(super().to_hub(obj), _HUB_NAMES)

    def from_hub(self, obj: Object) -> Object:
        """Return the event in events.k8s.io/v1, which omits empty fields that core/v1 always contains."""
        obj = _rename(super().from_hub(obj), _NAMES)
        for name in _ALWAYS_IN_HUB:
            if obj.get(name) == "":
                del obj[name]
        return obj
