"""Copies of rows into a store that assigns new revisions, and the verification of such copies."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sampan.core.numbers.counts import counted
from sampan.storage.snapshot.format import Row, SnapshotError
from sampan.storage.snapshot.reader import read_file
from sampan.storage.snapshot.rows import Rows
from sampan.storage.store import Store

_WHOLE = 1 << 256

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Digest:
    """Digest of a set of rows, independent of their order and revisions."""

    keys: int
    sum: int


async def digest_of(rows: Rows, but: frozenset[str], progress: Progress) -> Digest:
    """Return the digest of all rows, except those under the keys `but`."""
    keys = total = done = 0
    async with rows.state() as state:
        async for page in state.pages:
            counted = [row for row in page if row.key not in but]
            keys += len(counted)
            # A sum does not depend on the order, and the target may list the rows in another one.
            total += sum(map(_number, counted))
            done += len(page)
            progress(done, state.count)
    return Digest(keys, total % _WHOLE)


def digest_of_file(path: Path) -> Digest:
    """Return the digest of all rows of a snapshot, including those that expire."""
    numbers = [_number(row) for row in read_file(path) if isinstance(row, Row)]
    return Digest(len(numbers), sum(numbers) % _WHOLE)


async def copy_into(rows: Rows, store: Store, *, now: float, progress: Progress) -> tuple[Digest, frozenset[str]]:
    """Create all rows in an open store, in the order of `rows`.

    Return the digest of the copied rows and the keys that expire. Rows that have expired at `now` are skipped. Raises
    `KeyExists` and the errors of the store; in this case some rows may have been written.
    """
    keys = total = done = 0
    expiring: set[str] = set()
    async with rows.state() as state:
        async for page in state.pages:
            # A row that expires may be gone before the copy is verified, so it is in no digest.
            lasting = [row for row in page if not row.expires_at]
            expiring.update(row.key for row in page if row.expires_at)
            keys += len(lasting)
            total += sum(map(_number, lasting))
            for row in page:
                if not row.expires_at or row.expires_at > now:
                    await store.create(
                        row.key, row.value, ttl_s=math.ceil(row.expires_at - now) if row.expires_at else 0
                    )
            done += len(page)
            progress(done, state.count)
    return Digest(keys, total % _WHOLE), frozenset(expiring)


async def refuse_taken(store: Store, start: str, end: str) -> None:
    """Raise `SnapshotError` if the range is not empty."""
    found = await store.range(start, end, limit=1)
    if found.items:
        raise SnapshotError(
            f"the target is not empty: it has {counted(found.count, 'key')}, such as {found.items[0].key}"
        )


def _number(row: Row) -> int:
    return int.from_bytes(hashlib.sha256(row.key.encode() + b"\0" + row.value).digest(), "big")
