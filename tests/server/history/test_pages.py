"""Memory and event loop: a history is read in small pages, as its client reads."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

import pytest

from sampan.server.verbs.history.history import PAGE_BYTES, PAGE_FIRST
from sampan.storage.memory import MemoryStore
from sampan.storage.store import RowWrite
from tests.server.cluster import NEW_STORE, Api, served
from tests.server.history.requests import lines_of, query
from tests.server.verbs.objects import CONFIG_MAPS, config_map

MAP = f"{CONFIG_MAPS}/a"
SIZE = 700_000
CHANGES = 30


class RecordedPages:
    """Sizes of the pages that are read from a store."""

    def __init__(self, store: MemoryStore) -> None:
        self.pages: list[list[int]] = []
        self._read = store.writes_of
        store.writes_of = self.read  # type: ignore[method-assign]  # what the history reads is recorded

    async def read(self, key: str, *, before: int = 0, limit: int) -> Sequence[RowWrite]:
        """Read, and record the sizes of the objects."""
        found = await self._read(key, before=before, limit=limit)
        self.pages.append([len(write.row.value) for write in found])
        return found


@pytest.fixture
async def recorded() -> AsyncIterator[tuple[Api, RecordedPages]]:
    """Start a server with the history of a large object."""
    store = NEW_STORE.fork()
    async with served(store) as api:
        await api.create(CONFIG_MAPS, config_map() | {"data": {"text": "x" * SIZE}})
        for number in range(CHANGES):
            await api.patch(MAP, {"data": {"number": str(number)}})
        yield api, RecordedPages(store)


async def test_large_objects_are_read_a_few_at_a_time(recorded: tuple[Api, RecordedPages]) -> None:
    api, reads = recorded
    lines = await lines_of(api, MAP)
    assert len(lines) == CHANGES + 2
    assert len(reads.pages[0]) == PAGE_FIRST
    assert max(map(sum, reads.pages[1:])) <= PAGE_BYTES


async def test_further_pages_are_read_when_the_client_reads(recorded: tuple[Api, RecordedPages]) -> None:
    api, reads = recorded
    response = await api.client.get(f"{MAP}?{query('revisions')}")
    assert response.finite
    async with aclosing(cast(Any, response.stream)) as stream:
        await anext(stream)
        assert len(reads.pages) == 1
        await anext(stream)
        assert len(reads.pages) == 2
