"""`AbsentOwners`: owners that the server is known not to have, so that it is not asked for each of their dependents.

Source: pkg/controller/garbagecollector/uid_cache.go (1.36).
"""

from collections import OrderedDict
from typing import Final

from sampan.controllers.garbage_collector.identity import Identity, OwnerRef

ABSENT_OWNERS_MAX: Final = 500


class AbsentOwners:
    """The identities that were asked for last; the one that was not asked for longest is forgotten first."""

    def __init__(self, size_max: int = ABSENT_OWNERS_MAX) -> None:
        self._size_max = size_max
        self._identities: OrderedDict[Identity, None] = OrderedDict()

    def add(self, identity: Identity) -> None:
        """The server does not have it. A uid is never given again, so this stays true."""
        self._identities[identity] = None
        self._identities.move_to_end(identity)
        if len(self._identities) > self._size_max:
            self._identities.popitem(last=False)

    def has(self, reference: OwnerRef, namespace: str) -> bool:
        """Whether the owner that an object in a namespace names is absent, be it of the cluster or in the namespace."""
        return any(self._has(Identity(*reference[:4], where)) for where in dict.fromkeys(("", namespace)))

    def _has(self, identity: Identity) -> bool:
        if identity not in self._identities:
            return False
        self._identities.move_to_end(identity)
        return True
