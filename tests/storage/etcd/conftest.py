"""Stores on a fresh etcd."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.settings import PREFIX
from sampan.storage.etcd.store import EtcdStore
from tests.storage.etcd.server import Member

OpenStore = Callable[..., Awaitable[EtcdStore]]


@pytest.fixture
async def open_store(etcd: Member) -> AsyncIterator[OpenStore]:
    """Opens servers' stores on one etcd; they are closed after the test."""
    stores: list[EtcdStore] = []

    async def make(prefix: str = PREFIX) -> EtcdStore:
        store = EtcdStore(EtcdSettings((etcd.url,), prefix))
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        await store.close()
