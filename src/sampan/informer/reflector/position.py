"""`Position`: the resourceVersion from which to list and to watch.

Source: client-go tools/cache/reflector.go `relistResourceVersion`, `rewatchResourceVersion` (1.36).
"""

from sampan.client.errors import ApiError, Expired, Timeout
from sampan.informer.version import older


class Position:
    """Version that a reflector has reached, and its availability on the server."""

    def __init__(self, *, newest: bool = False) -> None:
        self._first = "" if newest else "0"
        self.resource_version = ""
        """Newest version received; empty before the first list."""
        self.unavailable = False
        """True if the server has reported that it does not have this version (any more, or not yet)."""

    def for_list(self) -> str:
        """Return the version to list from.

        The first list uses "0" (any version, from a cache), or "" (the newest version) if `newest` is set. Later lists
        use the last version, which is a minimum, or "" if the server does not have it.
        """
        if self.unavailable:
            return ""
        return self.resource_version or self._first

    def for_stream(self) -> str:
        """Return the version for a streaming list, which starts with the newest state."""
        return "" if self.unavailable else self.resource_version

    def listed(self, resource_version: str) -> None:
        """Record a list of this version. It may be older than the last one: the server decides."""
        self.resource_version = resource_version
        self.unavailable = False

    def advance(self, resource_version: str) -> None:
        """Record an event or bookmark of a watch. Late events do not lower the version."""
        if resource_version and not older(resource_version, self.resource_version):
            self.resource_version = resource_version


def is_too_large(error: ApiError) -> bool:
    """Return True if the server has not reached the requested version. Older servers report it only in the text."""
    if error.has_cause("ResourceVersionTooLarge"):
        return True
    return isinstance(error, Timeout) and "Too large resource version" in str(error)


def is_unavailable(error: Exception) -> bool:
    """Return True if the server does not have the requested version, so that the newest must be requested."""
    return isinstance(error, Expired) or (isinstance(error, ApiError) and is_too_large(error))
