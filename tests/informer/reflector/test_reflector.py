"""`Reflector`: requested versions, pages, streams, and the objects in its store."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import pytest

from sampan.client.errors import TransportError, api_error
from sampan.client.options import ListOptions
from sampan.client.watching.list_watch import RawEvent, RawList
from sampan.informer import (
    Indexer,
    InformerMetrics,
    InformerSettings,
    Reflector,
    ReflectorSettings,
    RefReader,
    SharedInformer,
    Transform,
    WatchFailure,
)
from sampan.resource import Object
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.informer.server import (
    EXPIRED_EVENT,
    WIDGETS,
    FakeServer,
    Plan,
    Recorder,
    event,
    expired,
    informer_of,
    running,
    state_of,
    status,
    store_of,
    too_large,
    too_many,
)


def requested(options: Sequence[ListOptions]) -> list[tuple[str | None, int]]:
    """Version and limit of each list."""
    return [(one.resource_version, one.limit) for one in options]


def server_with(count: int, **settings: Any) -> FakeServer:
    server = FakeServer(**settings)
    for number in range(count):
        server.put(f"w{number}")
    return server


@virtual_time
async def test_a_reflector_can_fill_a_plain_store() -> None:
    server = server_with(2)
    store: Indexer[Object] = Indexer()
    reflector = Reflector(server, store, RefReader(WIDGETS), settings=ReflectorSettings(streaming=False))
    task = asyncio.create_task(reflector.run())
    await settle()
    server.delete("w0")
    server.put("w1")
    server.version = 120
    server.bookmark()
    await settle()
    assert {ref.key: ref.resource_version for ref in store.refs()} == state_of(server)
    assert store.resource_version == reflector.last_resource_version == "120"
    task.cancel()
    await asyncio.wait([task])


# The ladder of versions.


@virtual_time
async def test_lists_request_any_version_then_the_last_known_one_then_the_newest() -> None:
    server = server_with(1)
    server.plans.extend([Plan(events=1, end=EXPIRED_EVENT), Plan(events=0, end=EXPIRED_EVENT)])
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        server.put("x")  # the first watch sees it and expires
        await settle()
        server.list_faults.append(expired())
        await asyncio.sleep(1)
        assert [version for version, _ in requested(server.lists)] == ["0", "102", None]
        await asyncio.sleep(10)
    assert [version for version, _ in requested(server.lists)] == ["0", "102", None, "102"]


@virtual_time
async def test_the_first_list_can_be_of_the_newest_version_without_streams() -> None:
    server = server_with(1)
    informer = informer_of(server, newest=True)
    async with running(informer):
        await informer.synced()
    assert [version for version, _ in requested(server.lists)] == [None]


@virtual_time
async def test_a_version_that_the_server_has_not_reached_leads_to_a_list_of_the_newest() -> None:
    server = server_with(1)
    server.plans.append(Plan(refuse=too_large(101)))
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        server.version = 50  # restored from a backup
        server.history.clear()
        await asyncio.sleep(5)
        assert [version for version, _ in requested(server.lists)] == ["0", "101", None]
        assert informer.last_resource_version == "50"


@virtual_time
async def test_an_older_servers_text_states_too_large_too() -> None:
    server = server_with(1)
    server.list_faults.append(api_error(status(504, "Timeout", "Too large resource version: 101, current: 50")))
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        assert [version for version, _ in requested(server.lists)] == ["0", None]


@virtual_time
async def test_a_newest_that_has_expired_is_not_requested_in_a_loop() -> None:
    server = server_with(1)
    server.list_faults.extend([expired()] * 50)
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(60)
        assert len(server.lists) <= 8


@virtual_time
async def test_a_store_restored_from_a_backup_is_trusted() -> None:
    server = server_with(2)
    informer = informer_of(server)
    handler = Recorder()
    informer.add_handler(handler)
    server.plans.append(Plan(after_s=5, end=expired()))
    async with running(informer):
        await informer.synced()
        await settle()
        server.objects["ns/w0"]["metadata"]["resourceVersion"] = "7"
        del server.objects["ns/w1"]
        server.version = 8
        server.history.clear()
        await asyncio.sleep(60)
        server.put("w2")
        await settle()
    assert store_of(informer) == handler.present() == {"ns/w0": "7", "ns/w2": "9"}


# Pages.


@virtual_time
async def test_a_list_is_read_in_pages_when_the_server_sends_pages() -> None:
    server = server_with(5, page=True)
    informer = informer_of(server, page_size=2)
    async with running(informer):
        await informer.synced()
    assert store_of(informer) == state_of(server)
    assert requested(server.lists) == [("0", 2), (None, 2), (None, 2)]
    assert [options.continue_token for options in server.lists] == ["", "2", "4"]


@virtual_time
async def test_a_list_of_a_version_is_requested_without_pages_to_allow_a_cache() -> None:
    server = server_with(5)
    server.plans.append(Plan(events=0, end=expired()))
    informer = informer_of(server, page_size=2)
    async with running(informer):
        await asyncio.sleep(5)
    assert requested(server.lists) == [("0", 2), ("105", 0)]


@virtual_time
async def test_a_server_without_a_cache_is_requested_pages_also_of_a_version() -> None:
    server = server_with(3, page=True)
    server.plans.append(Plan(events=0, end=expired()))
    informer = informer_of(server, page_size=2)
    async with running(informer):
        await asyncio.sleep(5)
    assert requested(server.lists) == [("0", 2), (None, 2), ("103", 2), (None, 2)]
    assert [options.resource_version_match for options in server.lists] == ["", "", "NotOlderThan", ""]


@virtual_time
async def test_a_continue_token_that_expires_leads_to_a_list_in_one_piece() -> None:
    server = server_with(5, page=True)
    informer = informer_of(server, page_size=2)

    class Expiring(FakeServer):
        async def list(self, options: ListOptions) -> RawList:
            if options.continue_token:
                server.list_faults.append(expired())
            return await server.list(options)

        def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
            return server.watch(options)

    informer = informer_of(Expiring(), page_size=2)
    async with running(informer):
        await informer.synced()
    assert requested(server.lists) == [("0", 2), (None, 2), ("0", 0)]
    assert store_of(informer) == state_of(server)


@virtual_time
async def test_a_change_between_two_pages_is_not_lost() -> None:
    class Changing(FakeServer):
        async def list(self, options: ListOptions) -> RawList:
            page = await super().list(options)
            if not options.continue_token:
                self.put("w0")
            return page

    server = Changing(page=True)
    for number in range(3):
        server.put(f"w{number}")
    informer = informer_of(server, page_size=2)
    async with running(informer):
        await informer.synced()
        await settle()
        assert store_of(informer) == state_of(server)


# Streaming lists.


@virtual_time
async def test_a_stream_gives_the_first_state_and_goes_on_as_the_watch() -> None:
    server = server_with(2, has_streaming_lists=True)
    informer = informer_of(server, streaming=True)
    handler = Recorder()
    informer.add_handler(handler)
    async with running(informer):
        await informer.synced()
        server.put("x")
        await settle()
    assert handler.notifications == ["add! ns/w0@101", "add! ns/w1@102", "add ns/x@103"]
    assert server.lists == []
    assert len(server.watches) == 1
    assert server.watches[0] == ListOptions(
        resource_version_match="NotOlderThan", timeout_seconds=300, allow_watch_bookmarks=True, send_initial_events=True
    )


@virtual_time
async def test_no_client_sees_a_stream_before_it_is_complete() -> None:
    server = server_with(2, has_streaming_lists=True)
    server.plans.append(Plan(without_bookmark=True))
    informer = informer_of(server, streaming=True)
    async with running(informer):
        await asyncio.sleep(5)
        assert store_of(informer) == {}
        assert not informer.has_synced()


@virtual_time
async def test_a_server_that_refuses_streams_is_requested_lists_and_not_for_streams_again() -> None:
    server = server_with(1)
    server.plans.extend([Plan(), Plan(events=0, end=expired())])
    informer = informer_of(server, streaming=True)
    async with running(informer):
        await informer.synced()
        await asyncio.sleep(60)
    assert [options.send_initial_events for options in server.watches] == [True, None, None]
    assert len(server.lists) == 2


@virtual_time
async def test_a_stream_without_its_last_bookmark_is_given_up_after_ten_seconds_for_ever() -> None:
    server = server_with(1, has_streaming_lists=True)
    server.plans.extend([Plan(without_bookmark=True), Plan(events=0, end=expired())])
    informer = informer_of(server, streaming=True)
    async with running(informer):
        await informer.synced()
        assert asyncio.get_running_loop().time() == 10
        await asyncio.sleep(60)
    assert [options.send_initial_events for options in server.watches] == [True, None, None]


@virtual_time
async def test_a_busy_stream_without_its_last_bookmark_is_given_up_too() -> None:
    server = server_with(1, has_streaming_lists=True)
    server.plans.append(Plan(without_bookmark=True))
    informer = informer_of(server, streaming=True)
    async with running(informer):
        for number in range(20):
            await asyncio.sleep(1)
            server.put("w0", count=number)
        await settle()
        assert informer.has_synced()


@virtual_time
async def test_a_stream_that_never_ends_with_ever_new_objects_is_given_up_after_five_minutes() -> None:
    server = server_with(1, has_streaming_lists=True)
    server.plans.append(Plan(without_bookmark=True))
    informer = informer_of(server, streaming=True, watch_s_min=1000.0)
    async with running(informer):
        for number in range(310):
            await asyncio.sleep(1)
            server.put(f"n{number}")
        await settle()
        assert informer.has_synced()
        assert store_of(informer) == state_of(server)


@virtual_time
async def test_a_stream_that_breaks_off_is_replaced_by_a_list_and_tried_again_next_time() -> None:
    server = server_with(2, has_streaming_lists=True)
    cut = TransportError("cut", sent=True)
    server.plans.extend([Plan(events=1, end=cut), Plan(events=0, end=expired())])
    informer = informer_of(server, streaming=True)
    async with running(informer):
        await informer.synced()
        assert len(server.lists) == 1
        await asyncio.sleep(20)
    assert [options.send_initial_events for options in server.watches] == [True, None, True]


@virtual_time
async def test_streams_that_break_off_three_times_are_not_requested_any_more() -> None:
    server = server_with(2, has_streaming_lists=True)
    server.every_plan = Plan(events=1, end=TransportError("cut", sent=True))
    server.plans.extend([Plan(events=1, end=TransportError("cut", sent=True)), Plan(events=0, end=expired())] * 3)
    informer = informer_of(server, streaming=True)
    async with running(informer):
        await asyncio.sleep(100)
        server.every_plan = None
        await asyncio.sleep(400)
    assert [options.send_initial_events for options in server.watches].count(True) == 3


@virtual_time
async def test_a_stream_begins_where_the_last_watch_ended_or_with_the_newest_when_that_has_expired() -> None:
    server = server_with(2, has_streaming_lists=True)
    server.plans.extend([Plan(after_s=3, end=expired()), Plan(refuse=expired())])
    informer = informer_of(server, streaming=True)
    async with running(informer):
        await asyncio.sleep(60)
    assert [options.resource_version for options in server.watches] == [None, "102", None]
    assert server.lists == []


@virtual_time
async def test_a_server_with_too_much_to_do_is_requested_the_stream_again_later() -> None:
    server = server_with(2, has_streaming_lists=True)
    server.plans.append(Plan(refuse=too_many(7)))
    informer = informer_of(server, streaming=True)
    async with running(informer):
        await informer.synced()
        assert asyncio.get_running_loop().time() == 7
    assert server.lists == []


@virtual_time
async def test_changes_while_a_stream_is_sent_are_part_of_the_first_state() -> None:
    server = server_with(2)

    class Streaming(FakeServer):
        async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
            first, second = server.objects["ns/w0"], server.objects["ns/w1"]
            end = {"metadata": {"resourceVersion": "104", "annotations": {"k8s.io/initial-events-end": "true"}}}
            changed = {**first, "metadata": {**first["metadata"], "resourceVersion": "103"}}
            yield [event("ADDED", first), event("BOOKMARK", {"metadata": {"resourceVersion": "102"}})]
            yield [event("ADDED", second), event("MODIFIED", changed), event("DELETED", second)]
            yield [event("BOOKMARK", end), event("ADDED", server.put("late"))]
            await asyncio.Event().wait()

    informer = informer_of(Streaming(), streaming=True)
    handler = Recorder()
    informer.add_handler(handler)
    async with running(informer):
        await informer.synced()
        await settle()
    assert handler.notifications == ["add! ns/w0@103", "add ns/late@103"]


# Watches without a version.


@virtual_time
async def test_the_first_events_of_a_watch_without_a_version_do_not_report_how_far_the_store_is() -> None:
    server = server_with(0)
    objects = [server.put("a"), server.put("b")]

    class NoVersion(FakeServer):
        async def list(self, options: ListOptions) -> RawList:
            return RawList([], "")

        async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
            yield [event("ADDED", objects[1]), event("ADDED", objects[0])]
            await asyncio.sleep(1)
            yield [event("MODIFIED", server.put("a"))]
            await asyncio.Event().wait()

    informer = informer_of(NoVersion())
    async with running(informer):
        await informer.synced()
        await settle()
        assert store_of(informer) == {"ns/a": "101", "ns/b": "102"}
        assert informer.last_resource_version == ""
        await asyncio.sleep(2)
        assert informer.last_resource_version == "103"


# Transforms.


def shorten(body: bytes) -> bytes:
    return body.replace(b'"long text"', b'"short"')


def transforming(server: FakeServer, transform: Transform) -> SharedInformer[Object]:
    return SharedInformer(server, WIDGETS, transform=transform)


@virtual_time
async def test_a_transform_sees_each_object_before_it_is_stored() -> None:
    server = FakeServer()
    server.put("a", spec="long text")
    informer = transforming(server, shorten)
    async with running(informer):
        await informer.synced()
        server.put("b", spec="long text")
        server.delete("a")
        await settle()
        found = informer.lister().list()
    assert [obj["spec"] for obj in found] == ["short"]


@virtual_time
async def test_a_transform_that_fails_is_reported_as_an_error_and_tried_again_without_a_hot_loop() -> None:
    server = FakeServer()
    server.put("a")
    fails = True

    def transform(body: bytes) -> bytes:
        if fails:
            raise LookupError("oh")
        return body

    informer = transforming(server, transform)
    notifications: list[WatchFailure] = []
    informer.set_watch_error_handler(notifications.append)
    async with running(informer):
        await asyncio.sleep(60)
        assert not informer.has_synced()
        assert 3 <= len(notifications) <= 8
        assert "LookupError" in str(notifications[0].error)
        fails = False
        await asyncio.sleep(60)
        assert informer.has_synced()


def test_metrics_begin_at_zero() -> None:
    metrics = InformerMetrics()
    assert [getattr(metrics, name) for name in metrics.__slots__] == [0] * len(metrics.__slots__)


@virtual_time
async def test_requests_and_events_are_counted() -> None:
    server = server_with(1)
    server.plans.append(Plan(events=1, end=TransportError("cut", sent=True)))
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        server.put("x")
        await asyncio.sleep(10)
        server.bookmark()
        await settle()
    metrics = informer.metrics
    assert (metrics.lists, metrics.watches, metrics.watch_failures, metrics.backoffs) == (1, 2, 1, 1)
    assert (metrics.events, metrics.bookmarks) == (1, 1)


@pytest.mark.parametrize("body", [b"[]", b'{"metadata":{}}', b'{"metadata":{"name":7}}', b"\xff"])
def test_items_that_are_no_objects_are_passed_over(body: bytes) -> None:
    class Broken(FakeServer):
        async def list(self, options: ListOptions) -> RawList:
            found = await super().list(options)
            return RawList([body, *found.items], found.resource_version)

    @virtual_time
    async def check() -> None:
        server = Broken()
        server.put("a")
        informer = informer_of(server)
        async with running(informer):
            await informer.synced()
        assert store_of(informer) == state_of(server)
        assert informer.metrics.unreadable == 1

    check()


@virtual_time
async def test_pages_that_do_not_go_on_are_an_error_and_not_a_loop() -> None:
    class Circling(FakeServer):
        async def list(self, options: ListOptions) -> RawList:
            found = await super().list(options)
            return RawList(found.items, found.resource_version, "again")

    server = Circling()
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(60)
        assert not informer.has_synced()
        assert len(server.lists) <= 2 * 8


@virtual_time
async def test_a_watch_is_resumed_from_the_last_bookmark() -> None:
    server = server_with(1)
    server.plans.append(Plan(events=1, end=TransportError("cut", sent=True)))
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        await settle()
        server.version = 150
        server.bookmark()
        await asyncio.sleep(10)
    assert [options.resource_version for options in server.watches] == ["101", "150"]


@virtual_time
async def test_tombstones_and_resyncs_are_not_transformed_again() -> None:
    server = server_with(2)
    transformed: list[bytes] = []

    def transform(body: bytes) -> bytes:
        transformed.append(body)
        return body

    server.plans.append(Plan(after_s=30, end=expired()))
    informer = SharedInformer(
        server, WIDGETS, resync_s=5, transform=transform, settings=InformerSettings(ReflectorSettings(streaming=False))
    )
    handler = Recorder()
    informer.add_handler(handler)
    async with running(informer):
        await asyncio.sleep(29)
        assert len(handler.notifications) == 2 + 2 * 5
        assert len(transformed) == 2
        del server.objects["ns/w0"]
        await asyncio.sleep(10)
        assert "lost ns/w0@101" in handler.notifications
        assert len(transformed) == 3  # the object that the new list has


@virtual_time
async def test_a_watch_that_is_faster_than_the_store_waits() -> None:
    server = server_with(1)
    pending: list[int] = []

    class Fast(FakeServer):
        async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
            for _ in range(10):
                yield [event("MODIFIED", server.put("w0")) for _ in range(1000)]
                pending.append(informer.pending)
            await asyncio.Event().wait()

    informer = informer_of(Fast())
    async with running(informer):
        await informer.synced()
        await settle()
        assert informer.last_resource_version == str(server.version)
    assert len(pending) == 10
    assert max(pending) < 2000
