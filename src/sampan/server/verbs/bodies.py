"""List bodies that are kept while nothing is written: the items of a list, encoded (and compressed) once for all who
ask.

Only the tail of a body is kept, from `"items":[` on; the head with the list's resourceVersion is new for each answer.
Concurrency: used on the server's loop alone; compression runs in a thread, once for each tail however many wait for it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field

from sampan.server.compression import SIZE_MIN_BYTES, accepts_gzip
from sampan.server.request import Request, Response
from sampan.wire.gzip_parts import Packed, join, pack

KEPT_BYTES_MAX = 48 << 20
KEPT_S = 120.0
"""A tail that nobody has asked for in so long is dropped: lists of a namespace that is gone are not asked for again."""
ENTRY_BYTES = 2048
"""About what a tail takes beside its bytes: who asks for small lists of many namespaces, or by many selectors, may not
fill the memory with them either.
"""


@dataclass(slots=True)
class ListTail:
    """The items part of a list body, and what its head must say of the page.

    `stamp`: the state of the cache that it shows; `expires`: loop time after which cells that tell the time are old
    (0: never).
    """

    stamp: int
    tail: bytes
    last_key: str
    more: bool
    remaining: int | None
    size: int = 0
    """How many objects it has."""
    used: float = 0.0
    """Loop time of its last use."""
    expires: float = 0.0
    packed: asyncio.Future[Packed] | None = field(default=None)

    async def response(self, request: Request, head: bytes, content_type: str = "application/json") -> Response:
        """The whole body, gzipped where the client accepts it and it is large."""
        if len(self.tail) <= SIZE_MIN_BYTES or not accepts_gzip(request.headers):
            return Response(200, head + self.tail, content_type)
        if self.packed is None:
            self.packed = asyncio.ensure_future(asyncio.to_thread(pack, self.tail))
        return Response(200, content_type=content_type, gzip_body=join(head, await asyncio.shield(self.packed)))


class ListBodies:
    """The tails kept by one server, the least recently used ones leave first."""

    def __init__(self, kept_bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._kept_bytes_max = kept_bytes_max
        self._tails: OrderedDict[Hashable, ListTail] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable, stamp: int, now: float) -> ListTail | None:
        """The tail, if it still shows the state `stamp`."""
        found = self._tails.get(key)
        if found is None:
            return None
        if found.stamp != stamp or 0.0 < found.expires <= now:
            self._drop(key)
            return None
        found.used = now
        self._tails.move_to_end(key)
        return found

    def put(self, key: Hashable, tail: ListTail, now: float) -> None:
        """Keep a tail, if it is not larger than everything may be, and drop those that are not used any more."""
        self._drop_unused(now - KEPT_S)
        if _size(tail) > self._kept_bytes_max // 2:
            return
        self._drop(key)
        tail.used = now
        self._tails[key] = tail
        self._bytes += _size(tail)
        while self._bytes > self._kept_bytes_max:
            self._drop(next(iter(self._tails)))

    def _drop_unused(self, since: float) -> None:
        while self._tails:
            key, oldest = next(iter(self._tails.items()))
            if oldest.used >= since:
                return
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        found = self._tails.pop(key, None)
        if found is not None:
            self._bytes -= _size(found)


def _size(tail: ListTail) -> int:
    return len(tail.tail) + ENTRY_BYTES
