"""The SQLite engine on damaged files: it refuses to start, or to write, and the error names the remedy."""

import os
import shutil
from pathlib import Path

import pytest

from sampan.storage.sqlite import SQLiteStore
from sampan.storage.store import StoreDamaged, prefix_end

PODS = "/registry/pods/"
ROWS = 300
PAGE = 4096
FRAME = 24 + PAGE


async def opened(path: Path) -> SQLiteStore:
    store = SQLiteStore(path)
    await store.open()
    return store


async def fill(store: SQLiteStore, rows: int = ROWS) -> None:
    for number in range(rows):
        await store.create(f"{PODS}{number:04}", b"x" * 2000)


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A database with some hundred pages."""
    path = tmp_path / "store.db"
    store = await opened(path)
    await fill(store)
    await store.close()
    return path


@pytest.fixture
async def killed(tmp_path: Path) -> Path:
    """The files that a killed process leaves: most of what was written is in the log alone."""
    running, left = tmp_path / "running", tmp_path / "left"
    running.mkdir()
    store = await opened(running / "store.db")
    await fill(store, 50)
    shutil.copytree(running, left)
    await store.close()
    return left / "store.db"


def overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def pages(path: Path) -> int:
    return path.stat().st_size // PAGE


def contents(path: Path) -> tuple[bytes, bytes]:
    return path.read_bytes(), path.with_name("store.db-wal").read_bytes()


async def rows(store: SQLiteStore) -> int:
    return len((await store.range(PODS, prefix_end(PODS))).items)


async def test_a_damaged_page_is_found_at_the_start_or_soon_after_it(path: Path) -> None:
    for page in range(1, pages(path), pages(path) // 20):
        damaged = path.with_name(f"page{page}.db")
        shutil.copy(path, damaged)
        overwrite(damaged, page * PAGE, b"\xa5" * PAGE)
        with pytest.raises(StoreDamaged, match=f"{damaged} is damaged .*sampan storage check .*snapshot restore"):
            await started_and_scrubbed(damaged)


async def started_and_scrubbed(path: Path) -> None:
    store = await opened(path)
    try:
        await store._scrubbing
        await store.ready()
    finally:
        await store.close()


async def test_a_store_with_damage_refuses_writes_and_goes_on_with_reads(path: Path) -> None:
    store = await opened(path)
    first, second = (await store.range(PODS, prefix_end(PODS), limit=2)).items
    store._health.missing("a row")
    for write in (
        store.create(PODS + "new", b"1"),
        store.update(first.key, b"2", first.mod_revision),
        store.update(first.key, b"2", first.mod_revision, frees=True),
        store.delete(first.key, first.mod_revision),
        store.ready(),
    ):
        with pytest.raises(StoreDamaged, match="a row is missing"):
            await write
    assert await store.get(second.key) == second
    await store.close()


async def test_a_read_that_finds_damage_is_reported(path: Path) -> None:
    store = await opened(path)
    await store._scrubbing
    for page in range(2, pages(path)):
        overwrite(path, page * PAGE, b"\xa5" * PAGE)
    with pytest.raises(StoreDamaged):
        await rows(store)
    with pytest.raises(StoreDamaged):
        await store.ready()
    await store.close()


@pytest.mark.parametrize("replace", [False, True], ids=["deleted", "replaced"])
async def test_a_database_that_goes_while_the_server_runs_is_noticed(path: Path, replace: bool) -> None:
    store = await opened(path)
    other = path.with_name("other.db")
    shutil.copy(path, other)
    os.unlink(path)
    if replace:
        os.rename(other, path)
    with pytest.raises(StoreDamaged, match="deleted or replaced while the server runs"):
        await store.ready()
    with pytest.raises(StoreDamaged):
        await store.create(PODS + "new", b"1")
    await store.close()


async def test_the_log_of_a_killed_process_is_read(killed: Path) -> None:
    store = await opened(killed)
    assert await rows(store) == 50
    await store.close()


@pytest.mark.parametrize("at", [4, 40, 32 + 8, 32 + 20 * FRAME + 100], ids=["header", "frame", "salt", "page"])
async def test_a_damaged_log_is_refused_and_left_alone(killed: Path, at: int) -> None:
    log = killed.with_name("store.db-wal")
    overwrite(log, at, bytes([log.read_bytes()[at] ^ 0xFF]))
    before = contents(killed)
    with pytest.raises(StoreDamaged, match="write-ahead log"):
        await opened(killed)
    assert contents(killed) == before


@pytest.mark.parametrize("cut", [1, 100, PAGE, FRAME + 10])
async def test_a_last_transaction_that_is_torn_is_no_damage(killed: Path, cut: int) -> None:
    log = killed.with_name("store.db-wal")
    content = log.read_bytes()
    log.write_bytes(content[:-cut])
    store = await opened(killed)
    assert await rows(store) == 49
    await store.close()


@pytest.mark.parametrize("content", [b"", bytes(32), bytes(10)], ids=["empty", "zeros", "short"])
async def test_a_log_without_a_header_is_empty(path: Path, content: bytes) -> None:
    path.with_name("store.db-wal").write_bytes(content)
    store = await opened(path)
    assert await rows(store) == ROWS
    await store.close()
