"""Several API servers in this process, on one store."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from sampan.storage.memory import MemoryStore
from sampan.storage.store import Store
from tests.server.cluster import Api, served
from tests.server.several.late_store import LateStore


class Server(Api):
    """One of them, with its way to the store."""

    late: LateStore


@asynccontextmanager
async def several(count: int, *, shared: Store | None = None, late_max_s: float = 0.01) -> AsyncIterator[list[Server]]:
    """Servers that have started one after the other; end with the block."""
    store = shared or MemoryStore()
    await store.open()
    try:
        async with AsyncExitStack() as stack:
            yield [await stack.enter_async_context(one_of(store, n, late_max_s)) for n in range(count)]
    finally:
        await store.close()


@asynccontextmanager
async def one_of(store: Store, seed: int, late_max_s: float = 0.01) -> AsyncIterator[Server]:
    """One more server on a store that is open."""
    late = LateStore(store, seed, late_max_s=late_max_s)
    async with served(late) as api:
        server = Server(api.server)
        server.late = late
        yield server
