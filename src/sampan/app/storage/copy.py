"""`copy_storage`: copies the content of one store into another and verifies the copy."""

import asyncio
import os
import shutil
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sampan.app.engines.contents import OBJECTS
from sampan.app.errors import StartError
from sampan.app.storage.lock import locked_directory
from sampan.app.storage.store_location import StoreLocation
from sampan.core.clock import unix_time
from sampan.core.numbers.counts import counted
from sampan.storage.snapshot import SnapshotError, StoreRows, verify, write_snapshot
from sampan.storage.snapshot.copy import Digest, copy_into, digest_of, digest_of_file
from sampan.storage.sqlite.dump import SQLiteRows
from sampan.storage.sqlite.restore import COPYING, DATABASE, check_empty, restore
from sampan.storage.store import prefix_end

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class CopyOptions:
    """Options of a copy. `made_by`: program; `whence`: name of the source, shown if the copy stays incomplete."""

    made_by: str
    whence: str
    clear_partial: bool = False
    """True: first delete the keys of an interrupted copy from etcd."""
    begun: Callable[[], None] = lambda: None
    """Called before the first write to etcd. From then on an interrupted copy leaves data to clear."""


async def copy_storage(source: StoreLocation, target: StoreLocation, options: CopyOptions, progress: Progress) -> int:
    """Copy all rows of one revision of `source`, which is not changed. Return their number.

    A SQLite target keeps the revisions. In etcd the rows get new revisions, in the same order. The target must be
    empty, and is verified at the end. Until then it is marked as incomplete, so no server uses it.

    Raises `SnapshotError` if the verification fails, `StoreIncomplete` if there is a partial copy, `StartError`,
    `OSError`, `sqlite3.Error`, and the errors of stores.
    """
    if target.engine.local:
        return await _to_directory(source, target.directory, options, progress)
    if source.engine.local:
        source.engine.check_whole(source.directory)
        return await _to_etcd(source.directory, target, options, progress)
    with tempfile.TemporaryDirectory(prefix="sampan-copy-") as scratch:
        # A scratch store orders the rows by revision without holding them in memory.
        try:
            await _to_directory(source, Path(scratch), options, progress)
        except (OSError, sqlite3.Error) as error:
            why = (error.strerror if isinstance(error, OSError) else None) or error
            raise StartError(f"the temporary directory {scratch}: {why} (TMPDIR names another place)") from error
        return await _to_etcd(Path(scratch), target, options, progress)


async def _to_directory(source: StoreLocation, directory: Path, options: CopyOptions, progress: Progress) -> int:
    check_empty(directory)
    async with source.rows() as rows, rows.state():
        pass  # A source that cannot be read is reported before the target is created.
    with locked_directory(directory):
        check_empty(directory)
        scratch = directory / COPYING
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        try:
            return await _by_snapshot(source, scratch / "snapshot", options, progress)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


async def _by_snapshot(source: StoreLocation, file: Path, options: CopyOptions, progress: Progress) -> int:
    directory = file.parents[1]
    async with source.rows() as rows:
        await write_snapshot(rows, file, made_by=options.made_by, progress=progress)
    heeding = _heeding_cancellation(progress)
    summary = verify(file, heeding)
    restore(file, summary, directory, bump_revision=0, progress=heeding)
    try:
        _compare(await digest_of(SQLiteRows(directory / DATABASE), frozenset(), progress), digest_of_file(file))
    except BaseException:
        (directory / DATABASE).unlink()
        raise
    return summary.totals.keys


def _heeding_cancellation(progress: Progress) -> Progress:
    """Return a progress function that raises `CancelledError`. Steps without an `await` become cancellable by it."""
    task = asyncio.current_task()

    def heeding(done: int, total: int) -> None:
        progress(done, total)
        if task is not None and task.cancelling():
            raise asyncio.CancelledError

    return heeding


async def _to_etcd(source: Path, target: StoreLocation, options: CopyOptions, progress: Progress) -> int:
    rows = SQLiteRows(source / DATABASE, by_revision=True)
    store = target.engine.copy_target()
    await store.open()
    try:
        begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        what = f"from {options.whence} by process {os.getpid()} of {socket.gethostname()}, begun {begun}"
        await store.begin(what, clear=options.clear_partial)
        options.begun()
        copied, expiring = await copy_into(rows, store, now=unix_time(), progress=progress)
        arrived = StoreRows(store, target.engine.name, start=OBJECTS, end=prefix_end(OBJECTS))
        _compare(await digest_of(arrived, expiring, progress), copied)
        await store.finish()
    finally:
        await store.close()
    return copied.keys + len(expiring)


def _compare(found: Digest, expected: Digest) -> None:
    if found != expected:
        raise SnapshotError(
            f"the target differs from the source: it has {counted(found.keys, 'key')}, not {expected.keys}"
        )
