"""Bodies of large lists, encoded in pieces while the client reads them: one piece is in memory, not the body.

Source: apiserver pkg/runtime/serializer/json/collections.go (1.36), which also sends such lists without their length.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Final, TypeVar

from isal import isal_zlib

from sampan.storage.records import Record

PIECE_BYTES: Final = 256 << 10
"""Size of the objects of a piece; an object is not divided."""
_GZIP: Final = 31
T = TypeVar("T")


def slices(values: Sequence[T], size_of: Callable[[T], int], size_max: int = PIECE_BYTES) -> Iterator[Sequence[T]]:
    """Divide values into slices of about `size_max` bytes, of at least one value."""
    start = size = 0
    for index, value in enumerate(values):
        size += size_of(value)
        if size >= size_max:
            yield values[start : index + 1]
            start, size = index + 1, 0
    if start < len(values):
        yield values[start:]


def size_of_record(record: Record) -> int:
    """Return the size of a stored object in bytes."""
    return len(record.value)


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
    for part in slices(records, size_of_record):
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
