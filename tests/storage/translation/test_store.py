"""A store that kube-apiserver writes to, under a watch cache and under writers of our own."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sampan.core.errors import StatusError
from sampan.core.object import Object
from sampan.storage.broadcaster import LocalWatch
from sampan.storage.cache import WatchCache
from sampan.storage.compactor import SharedStore
from sampan.storage.encoding import decode, encode, extractor, respliced_record
from sampan.storage.memory import MemoryStore
from sampan.storage.read_only import ReadOnlyStore
from sampan.storage.store import Conflict, Store, Untransformable, prefix_end
from sampan.storage.translation import Translation, protobuf_form, translated
from sampan.wire import protobuf

PREFIX = "/registry/configmaps/"
KEY = PREFIX + "default/a"


class Shared(MemoryStore):
    """A store that several servers write to."""

    async def claim_compaction(self, revision: int) -> bool:
        return revision == 7


def config_map(**data: str) -> Object:
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "default"}, "data": data}


@pytest.fixture
async def engine() -> AsyncIterator[MemoryStore]:
    store = MemoryStore()
    await store.open()
    yield store
    await store.close()


def data(value: bytes | None) -> Object:
    assert value is not None
    found: Object = decode(value)["data"]
    return found


async def test_a_watch_cache_serves_what_kube_apiserver_wrote(engine: MemoryStore) -> None:
    revision = await engine.create(KEY, protobuf.encode(config_map(x="1")))
    cache = WatchCache(translated(engine), PREFIX, extractor(), respliced_record)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(cache.run())
        await cache.wait_ready()
        await engine.update(KEY, protobuf.encode(config_map(x="2")), revision)
        await cache.fresh()
        record = cache.get(KEY)
        assert record is not None
        assert data(record.value) == {"x": "2"}
        assert decode(record.value)["metadata"]["resourceVersion"] == str(revision + 1)
        running.cancel()


async def test_a_list_with_an_object_that_no_client_can_read_fails_and_reports_where(engine: MemoryStore) -> None:
    await engine.create(PREFIX + "default/b", protobuf.encode(config_map()))
    revision = await engine.create(KEY, protobuf.envelope("v0", "ConfigMap", b""))
    cache = WatchCache(translated(engine), PREFIX, extractor(), respliced_record)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(cache.run())
        await cache.wait_ready()
        with pytest.raises(Untransformable, match=f'"{KEY}" cannot be read: no kind "ConfigMap" is .* "v0"'):
            cache.list(PREFIX)
        await engine.delete(KEY, revision)
        await cache.fresh()
        assert len(cache.list(PREFIX).records) == 1
        running.cancel()


async def test_an_object_that_became_unreadable_is_reported_also_if_it_was_just_written(engine: MemoryStore) -> None:
    cache = WatchCache(translated(engine), PREFIX, extractor(), respliced_record)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(cache.run())
        await cache.wait_ready()
        revision = await engine.create(KEY, protobuf.encode(config_map()))
        await engine.update(KEY, protobuf.envelope("v0", "ConfigMap", b""), revision)
        await cache.fresh()
        with pytest.raises(Untransformable, match="cannot be read"):
            cache.get(KEY)
        assert cache.readable() == []
        running.cancel()


async def test_an_object_that_no_client_can_read_is_not_given(engine: MemoryStore) -> None:
    revision = await engine.create(KEY, protobuf.envelope("v0", "ConfigMap", b""))
    store = translated(engine)
    with pytest.raises(Untransformable, match="cannot be read"):
        await store.get(KEY)
    with pytest.raises(Untransformable, match="cannot be read"):
        await store.update(KEY, encode(config_map()), revision - 1)


async def test_get_and_range_give_our_form(engine: MemoryStore) -> None:
    await engine.create(KEY, protobuf.encode(config_map(x="1")))
    store = translated(engine)
    row = await store.get(KEY)
    assert row is not None
    assert data(row.value) == {"x": "1"}
    assert list((await store.range(PREFIX, prefix_end(PREFIX))).items) == [row]
    assert await store.get(KEY + "b") is None


async def test_events_and_the_rows_before_them_are_in_our_form(engine: MemoryStore) -> None:
    store = translated(engine)
    revision = await engine.create(KEY, protobuf.encode(config_map(x="1")))
    await engine.delete(KEY, await engine.update(KEY, protobuf.encode(config_map(x="2")), revision))
    async with store.watch(PREFIX, prefix_end(PREFIX), 1) as watch:
        events = (await anext(watch)).events
    assert data(events[0].value) == {"x": "1"}
    assert events[1].previous is not None
    assert data(events[1].previous.value) == {"x": "1"}
    assert events[2].value is None


async def test_a_conflict_shows_what_is_there_in_our_form(engine: MemoryStore) -> None:
    revision = await engine.create(KEY, protobuf.encode(config_map(x="1")))
    store = translated(engine)
    for write in (store.update(KEY, b"{}", revision + 1), store.delete(KEY, revision + 1)):
        with pytest.raises(Conflict) as conflict:
            await write
        assert conflict.value.current is not None
        assert data(conflict.value.current.value) == {"x": "1"}


async def test_values_can_be_written_as_protobuf(engine: MemoryStore) -> None:
    store = translated(engine, Translation(protobuf_form))
    revision = await store.create(KEY, encode(config_map(x="1")))
    await store.update(KEY, encode(config_map(x="2")), revision)
    row, presented = await engine.get(KEY), await store.get(KEY)
    assert row is not None
    assert presented is not None
    assert row.value == protobuf.encode(config_map(x="2"))
    assert data(presented.value) == {"x": "2"}


async def test_a_store_that_is_shared_stays_so() -> None:
    store = translated(Shared())
    assert isinstance(store, SharedStore)
    assert await store.claim_compaction(7)
    assert not isinstance(translated(MemoryStore()), SharedStore)


@pytest.mark.parametrize("wrap", [translated, ReadOnlyStore])
async def test_a_watch_of_this_process_can_still_be_polled(engine: MemoryStore, wrap: type[ReadOnlyStore]) -> None:
    store: Store = wrap(engine)
    async with store.watch(PREFIX, prefix_end(PREFIX), 1) as watch:
        assert isinstance(watch, LocalWatch)
        await engine.create(KEY, protobuf.encode(config_map(x="1")))
        assert watch.has_events
        batch = watch.poll()
        assert batch is not None
        assert (len(batch.events), batch.revision) == (1, 2)


async def test_nothing_is_written_to_a_read_only_store(engine: MemoryStore) -> None:
    revision = await engine.create(KEY, b"1")
    store = ReadOnlyStore(engine)
    writes = (store.create(PREFIX + "b", b""), store.update(KEY, b"", revision), store.delete(KEY, revision))
    for write in (*writes, store.compact(revision)):
        with pytest.raises(StatusError, match="read-only") as refused:
            await write
        assert refused.value.code == 405
    assert await store.revision() == revision
    assert await store.get(KEY) == await engine.get(KEY)
