"""The SQLite engine when something is wrong: full, failing, locked, damaged, another's file."""

import asyncio
import os
import sqlite3
import stat
import sys
import threading
from pathlib import Path

import pytest

from sampan.storage.sqlite import SQLiteStore
from sampan.storage.sqlite.writer import Done, Job
from sampan.storage.store import Conflict, KeyExists, StoreDamaged, StoreFull, StoreUnavailable, prefix_end

PODS = "/registry/pods/"
A, B = PODS + "a", PODS + "b"


class Failing:
    """Fault that fails the next commits of a store, without a call of SQLite."""

    def __init__(self, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch, commits: int) -> None:
        self.left = commits
        self.submit = store._writer.submit
        monkeypatch.setattr(store._writer, "submit", self)

    def __call__(self, job: Job, done: Done) -> None:
        if self.left:
            self.left -= 1
            asyncio.get_running_loop().call_soon(done, None, sqlite3.OperationalError("disk I/O error"))
        else:
            self.submit(job, done)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


async def opened(path: Path, size_bytes_max: int = 0) -> SQLiteStore:
    store = SQLiteStore(path, size_bytes_max=size_bytes_max)
    await store.open()
    return store


async def filled(store: SQLiteStore, revisions: list[int]) -> None:
    """Write 2 MB; the revisions are noted as they come."""
    for number in range(200):
        revisions += [await store.create(f"{PODS}{number:03}", b"x" * 10_000)]


def content(path: Path) -> bytes:
    return path.read_bytes()


@pytest.fixture
def garbage(path: Path) -> Path:
    path.write_bytes(b"certainly not a database" * 1000)
    return path


async def test_a_full_store_refuses_writes_and_takes_them_again_after_deletes(path: Path) -> None:
    store = await opened(path, size_bytes_max=1_000_000)
    revisions: list[int] = []
    with pytest.raises(StoreFull, match="full"):
        await filled(store, revisions)
    assert 50 < len(revisions) < 100
    assert await store.revision() == revisions[-1]
    assert (await store.range(PODS, prefix_end(PODS))).count == len(revisions)
    for number in range(20):
        await store.delete(f"{PODS}{number:03}", revisions[number])
    await store.compact(await store.revision())
    await store.create(A, b"x" * 10_000)
    await store.close()


async def test_a_failed_commit_fails_its_writes_and_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await opened(path)
    Failing(store, monkeypatch, 1)
    results = await asyncio.gather(store.create(A, b"1"), store.create(B, b"1"), return_exceptions=True)
    assert [type(result) for result in results] == [StoreUnavailable] * 2
    assert (await store.get(A), await store.revision()) == (None, 1)
    revision = await store.create(A, b"2")
    row = await store.get(A)
    assert row is not None
    assert (row.value, row.mod_revision, await store.revision()) == (b"2", revision, revision)
    await store.close()


async def test_writes_behind_a_failed_commit_are_judged_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await opened(path)
    Failing(store, monkeypatch, 1)
    lost = asyncio.create_task(store.create(A, b"lost"))
    await asyncio.sleep(0)
    refused = asyncio.create_task(store.create(A, b"1"))
    update = asyncio.create_task(store.update(A, b"2", 2))
    await asyncio.sleep(0)
    results = await asyncio.gather(lost, refused, update, return_exceptions=True)
    assert isinstance(results[0], StoreUnavailable)
    assert isinstance(results[1], int)
    assert isinstance(results[2], Conflict)
    await store.close()


async def test_watchers_never_see_what_failed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await opened(path)
    Failing(store, monkeypatch, 1)
    async with store.watch(PODS, prefix_end(PODS), 1) as watch:
        with pytest.raises(StoreUnavailable):
            await store.create(A, b"lost")
        await store.create(B, b"1")
        assert [event.key for event in (await anext(watch)).events] == [B]
    await store.close()


async def test_a_refusal_waits_for_the_write_that_it_is_due_to(path: Path) -> None:
    store = await opened(path)
    first = asyncio.create_task(store.create(A, b"1"))
    second = asyncio.create_task(store.create(A, b"2"))
    with pytest.raises(KeyExists):
        await second
    assert first.done()
    assert await store.get(A) is not None
    await store.close()


async def test_a_key_that_cannot_be_stored_fails_alone(path: Path) -> None:
    store = await opened(path)
    results = await asyncio.gather(
        store.create(A, b"1"), store.create(PODS + "\ud800", b"1"), store.create(B, b"1"), return_exceptions=True
    )
    assert [type(result) for result in results] == [int, UnicodeEncodeError, int]
    await store.close()


async def test_a_second_store_cannot_have_the_file(path: Path) -> None:
    store = await opened(path)
    with pytest.raises(BlockingIOError, match="in use by another process"):
        await opened(path)
    await store.create(A, b"1")
    await store.close()


async def test_a_second_process_cannot_have_the_file(path: Path) -> None:
    store = await opened(path)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.crash_writer", str(path), stderr=asyncio.subprocess.PIPE
    )
    _, errors = await asyncio.wait_for(child.communicate(), 60)
    assert child.returncode == 1
    assert b"in use by another process" in errors
    await store.close()


async def test_the_file_is_free_after_close(path: Path) -> None:
    store = await opened(path)
    await store.create(A, b"1")
    await store.close()
    store = await opened(path)
    assert await store.get(A) is not None
    await store.close()


async def test_close_finishes_the_writes_under_way(path: Path) -> None:
    store = await opened(path)
    writes = [asyncio.create_task(store.create(f"{PODS}{number}", b"x")) for number in range(600)]
    await asyncio.sleep(0)
    await store.close()
    assert len({await write for write in writes}) == 600


async def test_close_may_be_called_twice(path: Path) -> None:
    store = await opened(path)
    await store.close()
    await store.close()


async def test_a_closed_store_takes_no_writes(path: Path) -> None:
    store = await opened(path)
    await store.close()
    with pytest.raises(RuntimeError, match="closed"):
        await store.create(A, b"1")


async def test_a_file_that_is_no_database_is_refused(garbage: Path) -> None:
    with pytest.raises(StoreDamaged, match="not a database"):
        await opened(garbage)


async def test_another_programs_database_is_refused_and_left_alone(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (a)")
    other.commit()
    other.close()
    before = content(path)
    with pytest.raises(OSError, match="not a store"):
        await opened(path)
    assert content(path) == before


async def test_a_refused_file_is_not_left_locked(garbage: Path) -> None:
    for _ in range(2):
        with pytest.raises(StoreDamaged):
            await opened(garbage)


async def test_a_missing_directory_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await opened(tmp_path / "absent" / "store.db")


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
async def test_files_are_for_the_owner_alone(path: Path) -> None:
    store = await opened(path)
    await store.create(A, b"1")
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert set(modes.values()) == {0o600}, modes
    await store.close()


async def test_commits_are_synchronous_and_logged_ahead(path: Path) -> None:
    store = await opened(path)
    synchronous = await store._writer.run(lambda connection: connection.execute("PRAGMA synchronous").fetchone()[0])
    journal = await store._writer.run(lambda connection: connection.execute("PRAGMA journal_mode").fetchone()[0])
    assert (synchronous, journal) == (2, "wal")
    await store.close()


async def test_compaction_gives_space_back(path: Path) -> None:
    store = await opened(path)
    revisions = await asyncio.gather(*(store.create(f"{PODS}{number}", b"x" * 3000) for number in range(2000)))
    deletes = (store.delete(f"{PODS}{number}", revision) for number, revision in enumerate(revisions))
    await asyncio.gather(*deletes)
    await store.compact(await store.revision())
    assert await store._writer.run(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0]) < 500
    await store.close()


async def test_an_interrupted_compaction_is_finished_by_the_next(path: Path) -> None:
    store = await opened(path)
    revision = await store.create(A, b"0")
    for number in range(20):
        revision = await store.update(A, b"%d" % number, revision)
    await store._writer.run(lambda connection: connection.execute("UPDATE state SET compacted = 10"))
    await store.close()
    store = await opened(path)
    await store.compact(revision)
    rows = await store._writer.run(lambda connection: connection.execute("SELECT revision FROM log").fetchall())
    assert rows == [(revision,)]
    await store.close()


async def test_the_revision_does_not_go_back_when_all_is_deleted_and_compacted(path: Path) -> None:
    store = await opened(path)
    revision = await store.delete(A, await store.create(A, b"1"))
    await store.compact(revision)
    await store.close()
    store = await opened(path)
    assert await store.revision() == revision
    assert await store.create(A, b"1") == revision + 1
    await store.close()


async def test_ttl_survives_a_restart(path: Path) -> None:
    now = 1000.0
    store = SQLiteStore(path, clock=lambda: now)
    await store.open()
    await store.create(A, b"1", ttl_s=60)
    await store.close()
    now = 1061.0
    store = SQLiteStore(path, clock=lambda: now)
    await store.open()
    store.expire()
    await store.create(B, b"1")
    assert await store.get(A) is None
    await store.close()


async def test_a_store_whose_writes_hang_is_not_ready_and_can_be_read(path: Path) -> None:
    store = await opened(path)
    hanging = threading.Event()
    store._writer.submit(lambda _: hanging.wait(), lambda *_: None)
    ready = asyncio.ensure_future(store.ready())
    await asyncio.wait({ready}, timeout=0.05)
    assert (ready.done(), await store.revision(), await store.get(A)) == (False, 1, None)
    hanging.set()
    await ready
    await store.close()
