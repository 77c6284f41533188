"""What an object is called in either version; all that differs for some types."""

from sampan.core.object import Object


class ApiVersionConversion:
    """Changes `apiVersion`, if the object says one. Other conversions build on it.

    `version` and `hub` are apiVersions: `batch/v1beta1`, `batch/v1`.
    """

    def __init__(self, version: str, hub: str) -> None:
        self._version = version
        self._hub = hub

    def to_hub(self, obj: Object) -> Object:
        """As the hub says it."""
        if "apiVersion" in obj:
            obj["apiVersion"] = self._hub
        return obj

    def from_hub(self, obj: Object) -> Object:
        """As the version says it."""
        if "apiVersion" in obj:
            obj["apiVersion"] = self._version
        return obj
