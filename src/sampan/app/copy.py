"""`copy_storage`: what one store holds into another, and a look at what has arrived."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from sampan.app.engine import OBJECTS, rows_of
from sampan.app.lock import locked_directory
from sampan.app.settings import UpSettings
from sampan.app.storage import engine_store
from sampan.storage.snapshot import SnapshotError, verify, write_snapshot
from sampan.storage.snapshot.copy import Digest, copy_into, digest_of, digest_of_file, refuse_taken
from sampan.storage.sqlite.dump import SQLiteRows
from sampan.storage.sqlite.restore import DATABASE, check_empty, restore
from sampan.storage.store import prefix_end

Progress = Callable[[int, int], None]


async def copy_storage(source: UpSettings, target: UpSettings, *, made_by: str, progress: Progress) -> int:
    """Copy all rows of one revision of `source`, which is left as it is; gives their number.

    A SQLite target gets the revisions too; in etcd the rows are new, in the order of their revisions. The target must
    be empty; it is read again at the end. Raises `SnapshotError` when that is not what was copied, `StartError`,
    `OSError`, `sqlite3.Error`, and the errors of stores.
    """
    with tempfile.TemporaryDirectory(prefix="sampan-copy-") as scratch:
        if target.storage == "sqlite":
            return await _to_directory(source, target.data, Path(scratch), made_by, progress)
        database = source.data / DATABASE
        if source.storage != "sqlite":
            # A scratch store has the rows in the order of their revisions, and needs no memory for it.
            await _to_directory(source, Path(scratch) / "data", Path(scratch), made_by, progress)
            database = Path(scratch) / "data" / DATABASE
        return await _to_store(SQLiteRows(database, by_revision=True), target, progress)


async def _to_directory(source: UpSettings, directory: Path, scratch: Path, made_by: str, progress: Progress) -> int:
    check_empty(directory)
    with locked_directory(directory):
        check_empty(directory)
        file = scratch / "snapshot"
        async with rows_of(source) as rows:
            await write_snapshot(rows, file, made_by=made_by, progress=progress)
        summary = verify(file, progress)
        restore(file, summary, directory, bump_revision=0, progress=progress)
        _compare(await digest_of(SQLiteRows(directory / DATABASE), frozenset(), progress), digest_of_file(file))
    return summary.totals.keys


async def _to_store(rows: SQLiteRows, target: UpSettings, progress: Progress) -> int:
    store = engine_store(target)
    await store.open()
    try:
        await refuse_taken(store, OBJECTS, prefix_end(OBJECTS))
        copied, expiring = await copy_into(rows, store, now=time.time(), progress=progress)
    finally:
        await store.close()
    async with rows_of(target) as arrived:
        _compare(await digest_of(arrived, expiring, progress), copied)
    return copied.keys + len(expiring)


def _compare(found: Digest, expected: Digest) -> None:
    if found != expected:
        raise SnapshotError(f"the target holds {found.keys} keys, not the {expected.keys} that were copied, or others")
