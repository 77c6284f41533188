"""`AbsentOwners`: cache of owners that the server does not have, which saves one request for each dependent.

Source: pkg/controller/garbagecollector/uid_cache.go (1.36).
"""

from collections import OrderedDict
from typing import Final

from sampan.controllers.garbage_collector.identity import ObjectIdentity, OwnerRef

ABSENT_OWNERS_MAX: Final = 500


class AbsentOwners:
    """A bounded LRU cache of the identities of absent owners."""

    def __init__(self, size_max: int = ABSENT_OWNERS_MAX) -> None:
        self._size_max = size_max
        self._identities: OrderedDict[ObjectIdentity, None] = OrderedDict()

    def add(self, identity: ObjectIdentity) -> None:
        """Add an owner that the server does not have. The entry stays valid, because UIDs are never reused."""
        self._identities[identity] = None
        self._identities.move_to_end(identity)
        if len(self._identities) > self._size_max:
            self._identities.popitem(last=False)

    def has(self, reference: OwnerRef, namespace: str) -> bool:
        """Return True if the owner in a reference is absent, either as a cluster-scoped object or in the namespace."""
        return any(self._has(ObjectIdentity(*reference[:4], where)) for where in dict.fromkeys(("", namespace)))

    def _has(self, identity: ObjectIdentity) -> bool:
        if identity not in self._identities:
            return False
        self._identities.move_to_end(identity)
        return True
