"""Bodies of large lists, encoded in pieces while the client reads them: one piece is in memory, not the body.

Source: apiserver pkg/runtime/serializer/json/collections.go (1.36), which also sends such lists without their length.
"""

import asyncio
from bisect import bisect_left
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import accumulate
from operator import attrgetter
from typing import Final, TypeVar

from isal import isal_zlib

from sampan.storage.records import Record

PIECE_BYTES: Final = 256 << 10
"""Size of the objects of a piece; an object is not divided."""
_GZIP: Final = 31
_value = attrgetter("value")
T = TypeVar("T")


def slices(values: Sequence[T], sizes: Iterable[int], size_max: int = PIECE_BYTES) -> Iterator[Sequence[T]]:
    """Divide values into slices of about `size_max` bytes, of at least one value. `sizes`: of each value."""
    ends = list(accumulate(sizes))
    start = before = 0
    while start < len(values):
        end = min(bisect_left(ends, before + size_max, start) + 1, len(values))
        yield values[start:end]
        start, before = end, ends[end - 1]


def record_sizes(records: Iterable[Record]) -> Iterator[int]:
    """Return the sizes of stored objects in bytes."""
    return map(len, map(_value, records))


async def list_pieces(
    head: bytes,
    *,
    begin: bytes,
    records: Sequence[Record],
    items: Callable[[Sequence[Record]], Awaitable[bytes]],
    end: bytes,
) -> AsyncGenerator[bytes, None]:
    """Yield a list: its head and what comes before its items, the joined `items` of each slice of records, its end."""
    yield head + begin
    comma = b""
    for part in slices(records, record_sizes(records)):
        yield comma + await items(part)
        comma = b","
    yield end


async def joined(pieces: AsyncGenerator[bytes, None]) -> bytes:
    """Return all pieces. Other tasks run after each of them."""
    found = []
    async for piece in pieces:
        found.append(piece)
        await asyncio.sleep(0)
    return b"".join(found)


async def compressed(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """Yield the pieces compressed with gzip, in threads. Closes `pieces`."""
    compressor = isal_zlib.compressobj(1, isal_zlib.DEFLATED, _GZIP)
    async with aclosing(pieces) as source:
        async for piece in source:
            packed = await asyncio.to_thread(compressor.compress, piece)
            if packed:
                yield packed
    yield compressor.flush()
