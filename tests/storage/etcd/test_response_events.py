"""Events of own writes come from etcd's responses, in order with those of the watch."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest

from sampan.storage.etcd import EtcdSettings
from sampan.storage.etcd.connection import messages
from sampan.storage.etcd.connection.client import EtcdClient
from sampan.storage.etcd.response_events import ResponseEvents
from sampan.storage.etcd.store import EtcdStore
from sampan.storage.store import KeyValue, Revision, StoreEvent, prefix_end
from tests.storage.etcd.conftest import OpenStore
from tests.storage.etcd.server import Member

PODS = "/registry/pods/"
DEADLINE_S = 20.0
WRITERS = 16


def event(revision: int) -> StoreEvent:
    return StoreEvent(revision, f"{PODS}{revision}", b"", None)


def key(name: object) -> str:
    return f"{PODS}ns/{name}"


@pytest.mark.parametrize(("known", "reached"), [((), 5), ((7,), 5), ((6,), 6), ((6, 8), 6), ((8, 6, 7, 10), 8)])
def test_events_are_taken_up_to_the_first_missing_revision(known: tuple[int, ...], reached: int) -> None:
    responses = ResponseEvents()
    for revision in known:
        responses.add(event(revision))
    assert [taken.revision for taken in responses.take(5)] == list(range(6, reached + 1))
    assert responses.take(5) == []


def test_events_that_the_watch_has_delivered_are_forgotten() -> None:
    responses = ResponseEvents()
    for revision in (6, 7, 9):
        responses.add(event(revision))
    responses.forget(7)
    assert responses.take(5) == []
    assert [taken.revision for taken in responses.take(8)] == [9]


async def put(etcd: Member, name: str) -> Revision:
    """Write as a program that is not a server of this cluster."""
    client = EtcdClient(EtcdSettings((etcd.url,)))
    response = await client.call(messages.PUT, messages.PutRequest(key=key(name).encode(), value=b"foreign"))
    await client.close()
    return Revision(response.header.revision)


async def test_events_from_responses_equal_those_of_etcds_watch(
    etcd: Member, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All kinds of writes, by concurrent writers and by another program."""
    store = await open_store()
    from_responses: list[StoreEvent] = []
    take = ResponseEvents.take

    def taken(self: ResponseEvents, after: int) -> list[StoreEvent]:
        events = take(self, after)
        from_responses.extend(events)
        return events

    monkeypatch.setattr(ResponseEvents, "take", taken)
    begin = await store.revision()
    chance = random.Random(7)

    async def write(writer: int) -> None:
        rows: dict[str, KeyValue | None] = {key(f"{writer}-{number}"): None for number in range(5)}
        for number in range(150):
            name = chance.choice(list(rows))
            row, value = rows[name], f"{writer} {number}".encode()
            if row is None:
                revision = await store.create(name, value, ttl_s=chance.choice([0, 0, 600]))
            elif chance.random() < 0.3:
                await store.delete(name, row.mod_revision)
                rows[name] = None
                continue
            else:
                revision = await store.update(name, value, row.mod_revision)
            rows[name] = KeyValue(name, value, 0, revision)

    async def interfere() -> None:
        for number in range(4):
            await asyncio.sleep(chance.uniform(0.1, 0.3))
            await put(etcd, f"foreign-{number}")

    async with store.watch(PODS, prefix_end(PODS), begin) as watch:
        await asyncio.gather(*(write(writer) for writer in range(WRITERS)), interfere())
        end = await put(etcd, "end")
        async with asyncio.timeout(DEADLINE_S):
            observed = [event async for event in _until(watch, end)]
    assert from_responses
    assert observed == [event async for event in _history(etcd, begin, end)]


async def _until(watch: AsyncIterator[object], revision: int) -> AsyncIterator[StoreEvent]:
    async for batch in watch:
        for event in batch.events:  # type: ignore[attr-defined]
            yield event
            if event.revision >= revision:
                return


async def _history(etcd: Member, after: int, until: int) -> AsyncIterator[StoreEvent]:
    """Yield etcd's own events between two revisions."""
    fresh = EtcdStore(EtcdSettings((etcd.url,)))
    await fresh.open()
    try:
        async with fresh.watch(PODS, prefix_end(PODS), after) as watch:
            async for event in _until(watch, until):
                yield event
    finally:
        await fresh.close()
