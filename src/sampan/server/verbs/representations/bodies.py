"""Cache of list bodies: while nothing is written, the items of a list are encoded (and compressed) once for all
clients.

Only the tail of a body, from `"items":[` on, is cached. The head with the list's resourceVersion is new for each
response. Responses share the tail.

A list of more than `JOINED_BYTES_MAX` is encoded in pieces while its client reads (`pieces.py`), so that lists that
differ do not fill the memory. When it is repeated without a write in between, it is joined and cached, up to
`CACHED_BYTES_MAX`.

Concurrency: used only on the server's loop. Compression runs in a thread, once for each tail, for any number of waiting
requests.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Hashable
from dataclasses import dataclass, field

from sampan.server.compression import GZIP, SIZE_MIN_BYTES, VARY, accepts_gzip
from sampan.server.request import Request, Response
from sampan.server.verbs.representations.pieces import compressed
from sampan.wire.gzip_parts import Packed, join, pack

KEPT_BYTES_MAX = 48 << 20
CACHED_BYTES_MAX = KEPT_BYTES_MAX // 2
JOINED_BYTES_MAX = 2 << 20
REPEATED_MAX = 1024
"""Number of lists that are remembered to recognize repeated ones."""
KEPT_S = 30.0
"""Time after which an unused tail is evicted, for example that of a list that one client requested twice."""
ENTRY_BYTES = 2048
"""Estimated overhead of a tail. It limits the memory for many small lists of namespaces or selectors."""


Pieces = Callable[[bytes], AsyncGenerator[bytes, None]]
"""Encodes a list after a head, in pieces."""


@dataclass(slots=True)
class ListTail:
    """Items of a list body, with the metadata that its head needs.

    `stamp` is the state of the cache that it shows. `expires` is the loop time after which cells with ages are stale
    (0: never).
    """

    stamp: int
    tail: bytes
    last_key: str
    more: bool
    remaining: int | None
    size: int = 0
    """Number of objects."""
    used: float = 0.0
    """Loop time of the last use."""
    expires: float = 0.0
    packed: asyncio.Future[Packed] | None = field(default=None)
    pieces: Pieces | None = None
    """Encoder of a large list after its head, in pieces; then `tail` is empty. It is not cached."""

    async def response(self, request: Request, head: bytes, content_type: str = "application/json") -> Response:
        """Return the whole body, with gzip if it is large and the client accepts that.

        Responses share a large tail.
        """
        if self.pieces is not None:
            return self._streamed(request, self.pieces(head), content_type)
        if len(self.tail) <= SIZE_MIN_BYTES:
            return Response(200, head + self.tail, content_type)
        if not accepts_gzip(request.headers):
            return Response(200, head, content_type, rest=(self.tail,))
        if self.packed is None:
            self.packed = asyncio.get_running_loop().run_in_executor(None, pack, self.tail)
        first, *rest = join(head, await asyncio.shield(self.packed))
        return Response(200, content_type=content_type, gzip_body=first, rest=tuple(rest))

    def _streamed(self, request: Request, pieces: AsyncGenerator[bytes, None], content_type: str) -> Response:
        response = Response(200, content_type=content_type, stream=pieces, finite=True)
        if accepts_gzip(request.headers):
            response.stream = compressed(pieces)
            response.headers = [GZIP, VARY]
        return response


class ListBodies:
    """Cached tails of one server. The least recently used ones are evicted."""

    def __init__(self, kept_bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._kept_bytes_max = kept_bytes_max
        self._tails: OrderedDict[Hashable, ListTail] = OrderedDict()
        self._bytes = 0
        self._stamps: OrderedDict[Hashable, int] = OrderedDict()
        """Stamps of the last lists, by key."""

    def is_repeated(self, key: Hashable, stamp: int) -> bool:
        """Return True if the list was requested before in the same state."""
        found = self._stamps.get(key)
        self._stamps[key] = stamp
        self._stamps.move_to_end(key)
        if len(self._stamps) > REPEATED_MAX:
            self._stamps.popitem(last=False)
        return found == stamp

    def get(self, key: Hashable, stamp: int, now: float) -> ListTail | None:
        """Return the tail if it shows the state `stamp`."""
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
        """Cache a tail, unless it exceeds the total limit, and evict unused ones."""
        self.forget_unused(now)
        if tail.pieces is not None or _size(tail) > self._kept_bytes_max // 2:
            return
        self._drop(key)
        tail.used = now
        self._tails[key] = tail
        self._bytes += _size(tail)
        while self._bytes > self._kept_bytes_max:
            self._drop(next(iter(self._tails)))

    def forget_unused(self, now: float) -> None:
        """Evict the tails that were not used in the last `KEPT_S`."""
        while self._tails:
            key, oldest = next(iter(self._tails.items()))
            if oldest.used >= now - KEPT_S:
                return
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        found = self._tails.pop(key, None)
        if found is not None:
            self._bytes -= _size(found)


def _size(tail: ListTail) -> int:
    return len(tail.tail) + ENTRY_BYTES
