"""`Freshness`: which events are news, and which are repeated or late ones.

A server that behaves sends each event once and in order. What lies between may not: a watch that is resumed too early,
a proxy that repeats. Of one object (one uid) versions only grow, and a name is given to a new object only after the
old one's deletion; nothing more is assumed, so that servers that count versions for each object apart are understood.
"""

from collections import OrderedDict
from typing import Final, Generic, TypeVar

from sampan.informer.ref import Ref
from sampan.informer.version import older

T = TypeVar("T")

REMEMBERED_MAX: Final = 4096
"""Objects that are gone and remembered, to know late events of them; the oldest is forgotten first."""


class Freshness(Generic[T]):
    """Remembers what the store cannot tell any more: which objects are gone, and at which version."""

    def __init__(self) -> None:
        self._gone: OrderedDict[str, str] = OrderedDict()

    def is_news(self, ref: Ref[T], known: Ref[T] | None, *, deletion: bool = False) -> bool:
        """Whether an event of a watch tells something that is not known yet. `known` is what the store has."""
        version = ref.resource_version
        if not version:
            return True
        if known is not None:
            if older(version, known.resource_version):
                return False
            if known.uid == ref.uid:
                # A deletion may bear the version of the last state: some servers send it so.
                return deletion or version != known.resource_version
        gone_at = self._gone.get(ref.uid)
        return gone_at is None or older(gone_at, version)

    def gone(self, uid: str, resource_version: str) -> None:
        """An object was not there any more at this version."""
        if not uid:
            return
        self._gone[uid] = resource_version
        self._gone.move_to_end(uid)
        if len(self._gone) > REMEMBERED_MAX:
            self._gone.popitem(last=False)
