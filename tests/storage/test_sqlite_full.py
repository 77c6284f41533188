"""The SQLite engine on a full disk, with simulated errors of the file system. A real one: tests/cli/test_up_disk.py."""

import asyncio
import errno
import os
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sampan.storage.sqlite import SQLiteStore, compaction, queue
from sampan.storage.sqlite.space import START_BYTES, DiskSpace
from sampan.storage.sqlite.writer import Job, Row, commit
from sampan.storage.store import StoreFull, StoreUnavailable

A, B, C = (f"/registry/pods/{name}" for name in "abc")


class Disk:
    """Disk that is full while `error` is set: nothing can be allocated, and commits need space that was released."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error = 0
        self.path = path
        self.space = DiskSpace(str(path), allocate=self._allocate)
        self.sqlite_error = sqlite3.SQLITE_FULL
        monkeypatch.setattr(queue, "commit", self._commit)

    @property
    def reserve_bytes(self) -> int:
        return os.stat(f"{self.path}-reserve").st_size

    def _allocate(self, descriptor: int, start: int, size: int) -> None:
        if self.error:
            raise OSError(self.error, os.strerror(self.error))
        os.truncate(descriptor, start + size)

    def _commit(self, rows: list[Row]) -> Job:
        def job(connection: sqlite3.Connection) -> object:
            if self.error and self.reserve_bytes > START_BYTES:
                error = sqlite3.OperationalError("simulated")
                error.sqlite_errorcode = self.sqlite_error
                raise error
            return commit(rows)(connection)

        return job


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path / "store.db", monkeypatch)


@pytest.fixture
async def store(disk: Disk) -> AsyncIterator[SQLiteStore]:
    store = SQLiteStore(disk.path, space=disk.space)
    await store.open()
    yield store
    await store.close()


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT], ids=["no-space", "quota"])
@pytest.mark.parametrize("sqlite_error", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR], ids=["full", "io-error"])
async def test_on_a_full_disk_only_steps_of_deletions_are_written(
    store: SQLiteStore, disk: Disk, error: int, sqlite_error: int
) -> None:
    revisions = [await store.create(key, b"1") for key in (A, B)]
    disk.error, disk.sqlite_error = error, sqlite_error
    with pytest.raises(StoreFull, match=f"{disk.path}.* free at least 32 MiB"):
        await store.create(C, b"1")
    with pytest.raises(StoreFull):
        await store.update(A, b"2", revisions[0])
    marked = await store.update(A, b"2", revisions[0], frees=True)
    await store.delete(A, marked)
    await store.delete(B, revisions[1])
    assert [await store.get(key) for key in (A, B, C)] == [None] * 3
    with pytest.raises(StoreFull):
        await store.ready()


async def test_a_delete_that_finds_the_disk_full_is_tried_again_with_the_reserve(
    store: SQLiteStore, disk: Disk
) -> None:
    revision = await store.create(A, b"1")
    disk.error = errno.ENOSPC
    results = await asyncio.gather(store.create(B, b"1"), store.delete(A, revision), return_exceptions=True)
    assert [type(result) for result in results] == [StoreFull, int]
    assert await store.get(A) is None


async def test_a_store_writes_again_as_soon_as_there_is_space(store: SQLiteStore, disk: Disk) -> None:
    disk.error = errno.ENOSPC
    with pytest.raises(StoreFull):
        await store.create(A, b"1")
    disk.error = 0
    await store.create(A, b"1")
    await store.ready()
    assert disk.reserve_bytes == disk.space.size_bytes


async def test_an_input_error_on_a_disk_with_space_is_not_taken_for_a_full_disk(
    store: SQLiteStore, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.error, disk.sqlite_error = errno.EIO, sqlite3.SQLITE_IOERR
    with pytest.raises(StoreUnavailable) as failed:
        await store.create(A, b"1")
    assert not isinstance(failed.value, StoreFull)


async def test_a_start_on_a_full_disk_serves_reads_and_deletes(disk: Disk) -> None:
    store = SQLiteStore(disk.path, space=disk.space)
    await store.open()
    revision = await store.create(A, b"1")
    await store.close()
    disk.error = errno.ENOSPC
    store = SQLiteStore(disk.path, space=disk.space)
    await store.open()
    assert await store.get(A) is not None
    with pytest.raises(StoreFull):
        await store.create(B, b"1")
    await store.delete(A, revision)
    await store.close()


async def test_a_new_store_is_not_begun_on_a_full_disk(disk: Disk) -> None:
    disk.error = errno.ENOSPC
    with pytest.raises(StoreFull, match="a new store needs 32 MiB: free space there"):
        await SQLiteStore(disk.path, space=disk.space).open()
    assert list(disk.path.parent.iterdir()) == []


async def test_a_closed_store_keeps_its_reserve_for_a_start_on_a_full_disk(disk: Disk) -> None:
    store = SQLiteStore(disk.path, space=disk.space)
    await store.open()
    assert disk.reserve_bytes == 16 << 20
    await store.close()
    assert disk.reserve_bytes == disk.space.size_bytes


async def test_a_compaction_returns_many_pages_in_each_step(disk: Disk) -> None:
    store = SQLiteStore(disk.path, space=disk.space)
    await store.open()
    revision = await store.create(A, b"x" * (2 << 20))
    await store.delete(A, revision)
    steps = 0
    trace = compaction.vacuum

    def counted(connection: sqlite3.Connection, *, pages_left_full: int | None = None) -> bool:
        nonlocal steps
        steps += 1
        return trace(connection, pages_left_full=pages_left_full)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compaction, "vacuum", counted)
        await store.compact(await store.revision())
    await store.close()
    assert disk.path.stat().st_size < 1 << 20
    assert 1 < steps < 8
