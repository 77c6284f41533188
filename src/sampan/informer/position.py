"""`Position`: from which resourceVersion to list and to watch.

Source: client-go tools/cache/reflector.go `relistResourceVersion`, `rewatchResourceVersion` (1.36).
"""

from sampan.client.errors import ApiError, Expired, Timeout
from sampan.informer.version import older


class Position:
    """The version that a reflector has reached, and whether the server still knows it."""

    def __init__(self) -> None:
        self.resource_version = ""
        """What has been seen; empty before the first list."""
        self.unavailable = False
        """Whether the server has said that it does not have this version (any more, or yet)."""

    def for_list(self) -> str:
        """First any version, from a cache ("0"); then none older than what was seen; the newest ("") when the server
        does not have that."""
        if self.unavailable:
            return ""
        return self.resource_version or "0"

    def for_stream(self) -> str:
        """The same for a streaming list, which begins with the newest."""
        return "" if self.unavailable else self.resource_version

    def listed(self, resource_version: str) -> None:
        """A list of this version has come. It may be older than what was seen: the server's word counts."""
        self.resource_version = resource_version
        self.unavailable = False

    def advance(self, resource_version: str) -> None:
        """An event or bookmark of a watch has come. Late events do not lead back."""
        if resource_version and not older(resource_version, self.resource_version):
            self.resource_version = resource_version


def is_too_large(error: ApiError) -> bool:
    """Whether the server has not reached the asked version; older servers say so only in the text."""
    if error.has_cause("ResourceVersionTooLarge"):
        return True
    return isinstance(error, Timeout) and "Too large resource version" in str(error)


def is_unavailable(error: Exception) -> bool:
    """Whether the server does not have the asked version, so that the newest is to be asked for."""
    return isinstance(error, Expired) or (isinstance(error, ApiError) and is_too_large(error))
