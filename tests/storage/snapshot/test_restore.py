"""A restored store is the old one at a later revision; what is not whole is refused, and nothing is restored."""

import errno
import json
import os
import random
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sampan.storage.snapshot import Row, SnapshotError, verify
from sampan.storage.snapshot.rows import START
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.sqlite import restore as restoring
from sampan.storage.sqlite.dump import SQLiteRows
from sampan.storage.sqlite.load import Loader
from sampan.storage.sqlite.restore import check_empty, credentials, is_unfinished, restore
from sampan.storage.store import Compacted, Conflict, prefix_end
from tests.properties import SHARED_FIXTURES, examples
from tests.storage.snapshot.conftest import NOW, PODS, ROWS, names, quiet, saved


def restored(snapshot: Path, directory: Path, bump_revision: int = 1000) -> int:
    """Restore a snapshot with the steps of the command."""
    summary = verify(snapshot, quiet)
    directory.mkdir(exist_ok=True)
    check_empty(directory)
    return restore(snapshot, summary, directory, bump_revision=bump_revision, progress=quiet)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def opened(directory: Path) -> SQLiteStore:
    store = SQLiteStore(directory / "state.db", clock=lambda: NOW)
    await store.open()
    return store


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data"


async def test_rows_keep_their_revisions_and_expiry(snapshot: Path, directory: Path) -> None:
    restored(snapshot, directory)
    async with SQLiteRows(directory / "state.db").state() as state:
        assert [row async for page in state.pages for row in page] == ROWS


async def test_the_revision_goes_forward(snapshot: Path, directory: Path) -> None:
    assert restored(snapshot, directory) == 1008
    store = await opened(directory)
    assert await store.revision() == 1008
    assert await store.create(PODS + "new", b"x") == 1009
    await store.close()


async def test_watchers_of_the_old_history_are_reported_that_it_is_forgotten(snapshot: Path, directory: Path) -> None:
    restored(snapshot, directory)
    store = await opened(directory)
    for after in (4, 8, 1007):
        with pytest.raises(Compacted):
            async with store.watch(PODS, prefix_end(PODS), after):
                pass
    with pytest.raises(Compacted):
        await store.range(START, "\U0010ffff", revision=8)
    await store.close()


async def test_a_watch_from_the_restored_revision_sees_what_is_written(snapshot: Path, directory: Path) -> None:
    revision = restored(snapshot, directory)
    store = await opened(directory)
    async with store.watch(PODS, prefix_end(PODS), revision) as watch:
        await store.update(PODS + "a/1", b"third", 4)
        event = (await anext(watch)).events[0]
    assert event.previous is not None
    assert (event.revision, event.previous.value, event.previous.create_revision) == (revision + 1, b"second", 2)
    await store.close()


async def test_writes_against_what_is_lost_conflict(snapshot: Path, directory: Path) -> None:
    restored(snapshot, directory)
    store = await opened(directory)
    with pytest.raises(Conflict):
        await store.update(PODS + "a/1", b"third", 9)
    await store.close()


async def test_rows_go_on_to_expire(snapshot: Path, directory: Path) -> None:
    restored(snapshot, directory)
    store = SQLiteStore(directory / "state.db", clock=lambda: NOW + 61)
    await store.open()
    store.expire()
    await store.create(PODS + "new", b"x")
    assert await store.get("/registry/events/a/1") is None
    await store.close()


async def test_a_restored_store_can_be_compacted(snapshot: Path, directory: Path) -> None:
    revision = restored(snapshot, directory)
    store = await opened(directory)
    newest = await store.update(PODS + "a/1", b"third", 4)
    assert newest == revision + 1
    await store.compact(newest)
    assert (await store.range(START, "\U0010ffff")).count == len(ROWS)
    await store.close()


def test_a_restored_store_is_for_its_owner_alone(snapshot: Path, directory: Path) -> None:
    restored(snapshot, directory)
    assert {path.name: mode(path) for path in directory.iterdir()} == {"state.db": 0o600}


@settings(max_examples=examples(60), suppress_health_check=SHARED_FIXTURES)
@given(st.integers(0, 10**9), st.integers(0, 7))
def test_any_flipped_bit_is_found(snapshot: Path, tmp_path: Path, position: int, bit: int) -> None:
    content = bytearray(snapshot.read_bytes())
    content[position % len(content)] ^= 1 << bit
    (tmp_path / "damaged").write_bytes(content)
    with pytest.raises(SnapshotError):
        verify(tmp_path / "damaged", quiet)


def test_any_cut_is_found(snapshot: Path, tmp_path: Path) -> None:
    content = snapshot.read_bytes()
    for size in random.Random(1).sample(range(len(content)), 60):
        (tmp_path / "cut").write_bytes(content[:size])
        with pytest.raises(SnapshotError):
            verify(tmp_path / "cut", quiet)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a snapshot"),
        (b"SQLite format 3\0" + bytes(5000), "not a snapshot"),
        (b'{"format": "other", "version": 1}\n', "not a snapshot"),
        (b"[1]\n", "not a snapshot"),
        (json.dumps({"format": "sampan-snapshot", "version": 2}).encode() + b"\n", "version 2"),
        (b'{"format": "sampan-snapshot", "version": 1}\n', "damaged header"),
    ],
    ids=["empty", "database", "other format", "no object", "later version", "no revision"],
)
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(SnapshotError, match=message):
        verify(tmp_path / "foreign", quiet)


def test_a_directory_that_holds_something_is_refused(snapshot: Path, directory: Path) -> None:
    directory.mkdir()
    (directory / "state.db").write_bytes(b"precious")
    with pytest.raises(SnapshotError, match="not empty"):
        restored(snapshot, directory)
    assert (directory / "state.db").read_bytes() == b"precious"


def test_a_killed_restore_is_begun_again(snapshot: Path, directory: Path) -> None:
    (directory / ".restoring").mkdir(parents=True)
    (directory / ".restoring" / "state.db").write_bytes(b"half")
    (directory / "pki").mkdir()
    (directory / "admin.token").write_bytes(b"moved")
    assert is_unfinished(directory)
    restored(snapshot, directory)
    assert not is_unfinished(directory)
    assert (directory / "state.db").exists()


def test_a_full_disk_leaves_no_store(snapshot: Path, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sampan.storage.sqlite.load.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        restored(snapshot, directory)
    assert names(directory) == []


async def test_credentials_are_restored_when_they_were_kept(path: Path, store: SQLiteStore, tmp_path: Path) -> None:
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "ca.key").write_bytes(b"secret")
    (tmp_path / "admin.token").write_bytes(b"token")
    await saved(path, tmp_path / "s", **credentials(tmp_path))
    restored(tmp_path / "s", tmp_path / "data")
    assert credentials(tmp_path / "data") == {"admin.token": b"token", "pki/ca.key": b"secret"}
    assert mode(tmp_path / "data" / "pki" / "ca.key") == 0o600


@pytest.mark.parametrize("name", ["../x", "pki/../../x", "/etc/x", "state.db", "", "other"])
async def test_files_outside_the_credentials_are_refused(
    path: Path, store: SQLiteStore, tmp_path: Path, name: str
) -> None:
    await saved(path, tmp_path / "s", **{name: b"x"})
    with pytest.raises(SnapshotError, match="has an invalid name"):
        restored(tmp_path / "s", tmp_path / "data")
    assert names(tmp_path / "data") == []


def test_two_rows_of_one_revision_are_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="same revision"), Loader(path) as loader:
        loader.add([Row("a", b"", 2, 2, 0), Row("b", b"", 2, 2, 0)])


def test_a_row_beyond_the_stores_revision_is_refused(
    snapshot: Path, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "read_file", lambda path: iter([*ROWS[:3], Row("x", b"", 9, 9000, 0)]))
    with pytest.raises(SnapshotError, match="after the store"):
        restored(snapshot, directory)
