"""`RepeatedApplies`: detects applies that change nothing, because an earlier equal apply changed nothing.

Controllers apply the same configuration again and again, mostly to an object that has not changed since. The result of
an apply depends only on the configuration, its manager, and the stored object. So if an apply has changed nothing, its
repetition changes nothing, as long as the object has the same revision.
"""

from collections.abc import Hashable
from hashlib import blake2b
from typing import Final

from sampan.core.object import Object

_KNOWN_MAX: Final = 4096
Key = tuple[Hashable, ...]


class RepeatedApplies:
    """Applies that have changed nothing. Configurations are kept as digests. May be used from any thread."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: set[Key] = set()

    def key(self, live: Object | None, text: bytes, *more: Hashable) -> Key | None:
        """Return the key of an apply; `text` is the configuration. None: a repetition cannot be detected.

        `more`: all other values on which the result depends.
        """
        revision = None if live is None else live["metadata"].get("resourceVersion")
        if live is None or not revision or not text:
            return None
        return (live["metadata"].get("uid"), revision, blake2b(text, digest_size=32).digest(), *more)

    def __contains__(self, key: Key) -> bool:
        return key in self._known

    def add(self, key: Key) -> None:
        """Add an apply that has changed nothing."""
        if len(self._known) >= _KNOWN_MAX:
            self._known.clear()
        self._known.add(key)
