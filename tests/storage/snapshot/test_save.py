"""Snapshots are written whole or not at all, at one revision, beside writers."""

import errno
import hashlib
import stat
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sampan.storage.memory import MemoryStore
from sampan.storage.snapshot import Row, SnapshotError, StoreRows, read_file, verify, write_snapshot
from sampan.storage.snapshot.rows import RowSnapshot
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.sqlite.dump import SQLiteRows
from tests.storage.snapshot.conftest import PODS, ROWS, content, names, quiet, saved


class Failing:
    """Rows that end with an error."""

    engine = "failing"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    @asynccontextmanager
    async def state(self) -> AsyncIterator[RowSnapshot]:
        yield RowSnapshot(1, 2, self._pages())

    async def _pages(self) -> AsyncIterator[Sequence[Row]]:
        yield ROWS[:1]
        raise self.error


def test_a_snapshot_has_all_rows_with_revisions_and_expiry(snapshot: Path) -> None:
    assert list(read_file(snapshot)) == ROWS


def test_a_snapshot_reports_what_it_is(snapshot: Path) -> None:
    summary = verify(snapshot, quiet)
    assert (summary.header.revision, summary.header.engine, summary.header.made_by) == (8, "sqlite", "a test")
    assert (summary.totals.keys, summary.totals.value_bytes) == (4, sum(len(row.value) for row in ROWS))
    assert summary.size_bytes == snapshot.stat().st_size


async def test_verify_returns_the_summary_of_save(store: SQLiteStore, path: Path, tmp_path: Path) -> None:
    assert await saved(path, tmp_path / "s") == verify(tmp_path / "s", quiet)


def test_the_checksum_is_that_of_all_lines_before_it(snapshot: Path) -> None:
    found = content(snapshot)
    assert found[-65:] == hashlib.sha256(found[:-65]).hexdigest().encode() + b"\n"


def test_a_snapshot_is_for_its_owner_alone(snapshot: Path) -> None:
    assert stat.S_IMODE(snapshot.stat().st_mode) == 0o600


async def test_writes_while_it_is_read_are_not_in_it(store: SQLiteStore, path: Path) -> None:
    async with SQLiteRows(path).state() as state:
        await store.create(PODS + "later", b"x")
        await store.compact(await store.revision())
        assert [row async for page in state.pages for row in page] == ROWS


async def test_rows_of_any_store_are_read_at_one_revision() -> None:
    store = MemoryStore()
    await store.open()
    for number in range(1201):
        await store.create(f"{PODS}{number:04}", b"%d" % number)
    async with StoreRows(store, "memory").state() as state:
        pages = aiter(state.pages)
        found = list(await anext(pages))
        await store.create(PODS + "zz", b"x")
        found += [row async for page in pages for row in page]
    assert (state.count, len(found), found[-1].key) == (1201, 1201, PODS + "1200")
    await store.close()


async def test_a_file_that_is_there_is_not_replaced(path: Path, snapshot: Path) -> None:
    before = content(snapshot)
    with pytest.raises(SnapshotError, match="exists"):
        await saved(path, snapshot)
    assert content(snapshot) == before


async def test_force_replaces_it(path: Path, store: SQLiteStore, snapshot: Path) -> None:
    await store.create("/registry/zzz", b"")
    await write_snapshot(SQLiteRows(path), snapshot, made_by="", force=True, progress=quiet)
    assert list(read_file(snapshot)) == [*ROWS, Row("/registry/zzz", b"", 9, 9, 0)]


async def test_the_partial_file_of_a_killed_writer_is_replaced(store: SQLiteStore, path: Path, tmp_path: Path) -> None:
    (tmp_path / ".s.partial").write_bytes(b"x" * 100_000)
    await saved(path, tmp_path / "s")
    assert list(read_file(tmp_path / "s")) == ROWS
    assert not (tmp_path / ".s.partial").exists()


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()], ids=["full", "interrupted"])
async def test_a_failure_leaves_nothing(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)):
        await write_snapshot(Failing(error), tmp_path / "s", made_by="", progress=quiet)
    assert names(tmp_path) == []


async def test_a_failure_leaves_the_file_that_force_would_replace(snapshot: Path) -> None:
    before = content(snapshot)
    with pytest.raises(OSError, match="full"):
        await write_snapshot(Failing(OSError(errno.ENOSPC, "full")), snapshot, made_by="", force=True, progress=quiet)
    assert content(snapshot) == before


async def test_without_a_store_there_is_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="the store does not exist"):
        await saved(tmp_path / "absent.db", tmp_path / "s")
    assert names(tmp_path) == []


async def test_progress_goes_up_to_the_number_of_rows(store: SQLiteStore, path: Path, tmp_path: Path) -> None:
    reported: list[tuple[int, int]] = []
    await write_snapshot(
        SQLiteRows(path), tmp_path / "s", made_by="", progress=lambda done, total: reported.append((done, total))
    )
    assert reported == [(0, 4), (4, 4)]
