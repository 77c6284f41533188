"""The stores of the contract suites: encrypted ones."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from sampan.storage.broadcaster import WatchBroadcaster
from sampan.storage.encryption.store import EncryptedStore
from sampan.storage.memory import MemoryStore
from tests.storage.conftest import Clock
from tests.storage.encryption.keys import KEY, keys, providers


class Encrypted(EncryptedStore):
    """On a store in memory; the suites look into both."""

    def __init__(self, below: MemoryStore) -> None:
        super().__init__(below, providers({"aesgcm": keys(k1=KEY)}), lambda key: ("", "secrets"))
        self.expire = below.expire
        self._broadcaster: WatchBroadcaster = below._broadcaster


@pytest.fixture
def engine() -> str:
    return "memory"


@pytest.fixture
async def make_store(clock: Clock) -> AsyncIterator[Callable[..., Awaitable[Encrypted]]]:
    stores: list[Encrypted] = []

    async def make(**settings: int) -> Encrypted:
        store = Encrypted(MemoryStore(clock=clock, **settings))
        stores.append(store)
        await store.open()
        return store

    yield make
    for store in stores:
        await store.close()
