"""Convert between versions that differ only in `apiVersion`."""

from sampan.core.object import Object


class ApiVersionConversion:
    """Changes `apiVersion`, if the object has one. Other conversions build on it.

    `version` and `hub` are apiVersions: `batch/v1beta1`, `batch/v1`.
    """

    def __init__(self, version: str, hub: str) -> None:
        self._version = version
        self._hub = hub

    def to_hub(self, obj: Object) -> Object:
        """Convert to the hub version, in place."""
        if "apiVersion" in obj:
            obj["apiVersion"] = self._hub
        return obj

    def from_hub(self, obj: Object) -> Object:
        """Convert from the hub version, in place."""
        if "apiVersion" in obj:
            obj["apiVersion"] = self._version
        return obj
