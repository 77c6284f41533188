"""Stores of every engine, under a clock that tests move themselves."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from sampan.storage.memory import MemoryStore
from sampan.storage.sqlite import SQLiteStore

AnyStore = MemoryStore | SQLiteStore
MakeStore = Callable[..., Awaitable[AnyStore]]


class Clock:
    """Time that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def make_store(engine: str, tmp_path: Path, clock: Clock) -> AsyncIterator[MakeStore]:
    """Opens stores of the engine; they are closed after the test."""
    stores: list[AnyStore] = []

    async def make(**settings: int) -> AnyStore:
        store: AnyStore
        if engine == "memory":
            store = MemoryStore(clock=clock, **settings)
        else:
            store = SQLiteStore(tmp_path / f"store-{len(stores)}.db", clock=clock, **settings)
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        await store.close()


@pytest.fixture
async def store(make_store: MakeStore) -> AnyStore:
    return await make_store()
