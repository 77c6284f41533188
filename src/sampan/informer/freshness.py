"""`Freshness`: distinguishes new events from repeated and late ones.

A correct server sends each event once and in order. A watch that is resumed too early, or a proxy, may repeat events.

Assumptions: the versions of one object (one uid) only grow, and a name is reused only after the deletion of its object.
Versions of different objects need not be comparable, because some servers count versions for each object.
"""

from typing import Final, Generic, TypeVar

from sampan.core.recent import Recent
from sampan.informer.ref import Ref
from sampan.informer.version import older

T = TypeVar("T")

REMEMBERED_MAX: Final = 2048
"""Number of the latest deletions that are always remembered for `REMEMBERED_S`. They detect late events."""
REMEMBERED_S: Final = 300.0
"""Time in seconds for which a deletion is remembered.

kube-apiserver compacts etcd every five minutes, so a watch cannot be resumed from an older version. With a limit of the
number alone, the memory of a process with many informers grew for hours.
"""


class Freshness(Generic[T]):
    """Remembers deleted objects and the versions of their deletions, which the store no longer has."""

    def __init__(self) -> None:
        self._deleted: Recent[str, str] = Recent(REMEMBERED_MAX, REMEMBERED_S)

    def __len__(self) -> int:
        """Return the number of remembered deletions."""
        return len(self._deleted)

    def is_new(self, ref: Ref[T], known: Ref[T] | None, *, deletion: bool = False) -> bool:
        """Return True if an event of a watch is newer than `known`, the state in the store."""
        version = ref.resource_version
        if not version:
            return True
        if known is not None:
            if older(version, known.resource_version):
                return False
            if known.uid == ref.uid:
                # Some servers send a deletion with the version of the last state.
                return deletion or version != known.resource_version
        deleted_at = self._deleted.get(ref.uid)
        return deleted_at is None or older(deleted_at, version)

    def deleted(self, uid: str, resource_version: str) -> None:
        """Record that an object did not exist at this version."""
        if uid:
            self._deleted.put(uid, resource_version)
