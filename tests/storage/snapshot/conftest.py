"""A store with something in it, and ways to keep it in a file."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sampan.storage.snapshot import Row, Summary, write_snapshot
from sampan.storage.sqlite import SQLiteStore
from sampan.storage.sqlite.dump import SQLiteRows

PODS = "/registry/pods/"
NOW = 1_000_000.0


def quiet(done: int, total: int) -> None:
    """Progress that is not shown."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SQLiteStore]:
    """Rows that were made, changed and deleted, and one that expires; its newest revision is 8."""
    store = SQLiteStore(path, clock=lambda: NOW)
    await store.open()
    revision = await store.create(PODS + "a/1", b"first")
    await store.create(PODS + "b/\u00fc", bytes(range(256)))
    await store.update(PODS + "a/1", b"second", revision)
    await store.delete(PODS + "gone", await store.create(PODS + "gone", b"x"))
    await store.create("/registry/events/a/1", b"soon gone", ttl_s=60)
    await store.create("/registry/zz", b"")
    yield store
    await store.close()


ROWS = [
    Row("/registry/events/a/1", b"soon gone", 7, 7, NOW + 60),
    Row(PODS + "a/1", b"second", 2, 4, 0),
    Row(PODS + "b/\u00fc", bytes(range(256)), 3, 3, 0),
    Row("/registry/zz", b"", 8, 8, 0),
]


async def saved(path: Path, file: Path, **files: bytes) -> Summary:
    """The database kept in a file."""
    return await write_snapshot(SQLiteRows(path), file, made_by="a test", files=files, progress=quiet)


@pytest.fixture
async def snapshot(store: SQLiteStore, path: Path, tmp_path: Path) -> Path:
    await saved(path, tmp_path / "snapshot")
    return tmp_path / "snapshot"


def names(directory: Path) -> list[str]:
    """Return the files of a directory."""
    return sorted(path.name for path in directory.iterdir())


def content(path: Path) -> bytes:
    return path.read_bytes()
