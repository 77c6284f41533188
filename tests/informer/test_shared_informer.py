"""Contract of `SharedInformer`: objects of the store and events of handlers, in virtual time."""

import asyncio

import pytest

from sampan.client.errors import TransportError
from sampan.informer import (
    EventHandlerFuncs,
    InformerSettings,
    InformerStopped,
    Ref,
    ReflectorSettings,
    SharedInformer,
    WatchFailure,
)
from sampan.resource import Object
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.informer.server import WIDGETS, FakeServer, Plan, Recorder, informer_of, running, state_of, store_of


@virtual_time
async def test_the_store_follows_the_server() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    handler = Recorder()
    registration = informer.add_handler(handler)
    async with running(informer):
        await registration.synced()
        server.put("b")
        server.put("a")
        server.delete("b")
        await settle()
    assert handler.notifications == ["add! ns/a@101", "add ns/b@102", "update ns/a@101>103", "delete ns/b@104"]
    assert store_of(informer) == state_of(server) == {"ns/a": "103"}
    assert informer.last_resource_version == "104"


@virtual_time
async def test_a_late_handler_is_notified_of_everything_in_the_store_as_its_first_list() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        server.put("b")
        await settle()
        late = Recorder()
        registration = informer.add_handler(late)
        assert not registration.has_synced()
        server.put("a")
        await registration.synced()
        await settle()
    assert late.notifications == ["add! ns/a@101", "add! ns/b@102", "update ns/a@101>103"]


@virtual_time
async def test_a_handler_without_objects_syncs_too() -> None:
    informer = informer_of(FakeServer())
    registration = informer.add_handler(Recorder())
    async with running(informer):
        assert not informer.has_synced()
        await registration.synced()
        assert informer.has_synced()


@virtual_time
async def test_a_handler_has_synced_only_when_it_has_returned_from_the_whole_first_list() -> None:
    server = FakeServer()
    server.put("a")
    server.put("b")
    gate = asyncio.Event()

    async def slow(_: Ref[Object]) -> None:
        await gate.wait()

    informer = informer_of(server)
    registration = informer.add_handler(EventHandlerFuncs(add=slow))
    async with running(informer):
        await informer.synced()
        await settle()
        assert not registration.has_synced()
        assert registration.pending == 2  # one object and the end of the first list
        gate.set()
        await registration.synced()


@virtual_time
async def test_a_slow_handler_delays_no_other() -> None:
    server = FakeServer()
    server.put("a")

    async def stuck(_: Ref[Object]) -> None:
        await asyncio.Event().wait()

    informer = informer_of(server)
    informer.add_handler(EventHandlerFuncs(add=stuck))
    handler = Recorder()
    informer.add_handler(handler)
    async with running(informer):
        await informer.synced()
        server.put("b")
        await settle()
        assert handler.notifications == ["add! ns/a@101", "add ns/b@102"]


@virtual_time
async def test_the_store_has_a_change_before_its_handlers_are_reported() -> None:
    server = FakeServer()
    informer = informer_of(server)
    observed: list[tuple[str | None, int]] = []

    def look(obj: Ref[Object]) -> None:
        ref = informer.indexer.get(obj.key)
        observed.append((ref.resource_version if ref else None, len(informer.indexer.by_index("namespace", "ns"))))

    informer.add_handler(EventHandlerFuncs(add=look))
    async with running(informer):
        await informer.synced()
        server.put("a")
        await settle()
    assert observed == [("101", 1)]


@virtual_time
async def test_a_handler_that_raises_is_reported_the_next_event(caplog: pytest.LogCaptureFixture) -> None:
    server = FakeServer()
    server.put("a")
    server.put("b")
    notifications: list[str] = []

    def fail(obj: Ref[Object]) -> None:
        notifications.append(obj.name)
        raise LookupError("oh")

    informer = informer_of(server)
    registration = informer.add_handler(EventHandlerFuncs(add=fail))
    async with running(informer):
        await registration.synced()
    assert notifications == ["a", "b"]
    assert caplog.text.count("LookupError: oh") == 2


@virtual_time
async def test_a_removed_handler_is_reported_nothing_more_and_may_be_removed_twice() -> None:
    server = FakeServer()
    informer = informer_of(server)
    handler = Recorder()
    registration = informer.add_handler(handler)
    async with running(informer):
        await registration.synced()
        registration.remove()
        registration.remove()
        await registration.removed()
        server.put("a")
        await settle()
        assert informer.registrations == []
    assert handler.notifications == []


@virtual_time
async def test_removal_can_be_waited_for_until_the_handler_is_not_called_any_more() -> None:
    server = FakeServer()
    server.put("a")
    server.put("b")
    gate = asyncio.Event()
    notifications: list[str] = []

    async def slow(obj: Ref[Object]) -> None:
        await gate.wait()
        notifications.append(obj.name)

    informer = informer_of(server)
    registration = informer.add_handler(EventHandlerFuncs(add=slow))
    async with running(informer):
        await informer.synced()
        await settle()
        registration.remove()
        removed = asyncio.create_task(registration.removed())
        await settle()
        assert not removed.done()
        gate.set()
        await removed
    assert notifications == ["a"]


@virtual_time
async def test_a_handler_can_remove_itself() -> None:
    server = FakeServer()
    server.put("a")
    server.put("b")
    informer = informer_of(server)
    notifications: list[str] = []

    def once(obj: Ref[Object]) -> None:
        notifications.append(obj.name)
        registration.remove()

    registration = informer.add_handler(EventHandlerFuncs(add=once))
    async with running(informer):
        await registration.removed()
    assert notifications == ["a"]


@virtual_time
async def test_a_handler_removed_before_the_informer_runs_is_removed_at_once() -> None:
    informer = informer_of(FakeServer())
    registration = informer.add_handler(Recorder())
    registration.remove()
    await registration.removed()


@virtual_time
async def test_a_handler_can_be_added_during_a_notification() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    nested = Recorder()

    def add_another(_: Ref[Object]) -> None:
        informer.add_handler(nested)

    informer.add_handler(EventHandlerFuncs(add=add_another))
    async with running(informer):
        await informer.synced()
        await settle()
    assert nested.notifications == ["add! ns/a@101"]


@virtual_time
async def test_a_stopped_informer_takes_no_handlers_and_does_not_run_again() -> None:
    informer = informer_of(FakeServer())
    async with running(informer):
        await informer.synced()
        with pytest.raises(RuntimeError):
            await informer.run()
        with pytest.raises(RuntimeError):
            informer.set_watch_error_handler(lambda error: None)
    assert informer.stopped
    with pytest.raises(InformerStopped):
        informer.add_handler(Recorder())
    with pytest.raises(RuntimeError):
        await informer.run()


@virtual_time
async def test_an_object_made_again_while_no_client_looked_is_one_update_with_two_uids() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    uids: list[tuple[str, str]] = []
    informer.add_handler(EventHandlerFuncs(update=lambda old, new: uids.append((old.uid, new.uid))))
    server.plans.append(Plan(events=0, after_s=5, end=TransportError("cut", sent=True)))
    async with running(informer):
        await informer.synced()
        await asyncio.sleep(4)
        server.delete("a")
        server.put("a")
        server.compact()  # the watch cannot be resumed: a list is due
        await asyncio.sleep(20)
    assert uids == [("uid-1", "uid-2")]


@virtual_time
async def test_an_object_missing_from_a_new_list_is_reported_as_lost_with_its_last_state() -> None:
    server = FakeServer()
    server.put("a")
    server.put("b")
    server.put("c")
    informer = informer_of(server)
    handler = Recorder()
    informer.add_handler(handler)
    server.plans.append(Plan(events=0, after_s=5, end=TransportError("cut", sent=True)))
    async with running(informer):
        await informer.synced()
        await asyncio.sleep(4)
        server.put("d")
        server.put("b")
        server.delete("a")
        server.compact()
        await asyncio.sleep(20)
    assert handler.notifications[3:] == ["lost ns/a@101", "update ns/b@102>105", "add ns/d@104"], "deletions come first"
    assert store_of(informer) == state_of(server)


@virtual_time
async def test_a_new_list_that_brings_nothing_new_is_reported_to_no_client() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    handler = Recorder()
    informer.add_handler(handler, resync_s=0)
    server.plans.append(Plan(events=0, end=TransportError("cut", sent=True)))
    async with running(informer):
        await informer.synced()
        server.compacted = 1000
        await asyncio.sleep(20)
        assert len(server.lists) > 1
    assert handler.notifications == ["add! ns/a@101"]


@virtual_time
async def test_a_resync_reports_the_same_state_again_without_requesting_the_server() -> None:
    server = FakeServer()
    server.put("a")
    informer = SharedInformer(
        server, WIDGETS, resync_s=30, settings=InformerSettings(ReflectorSettings(streaming=False))
    )
    handler, without, often = Recorder(), Recorder(), Recorder()
    informer.add_handler(handler)
    informer.add_handler(without, resync_s=0)
    informer.add_handler(often, resync_s=10)
    async with running(informer):
        await asyncio.sleep(61)
        assert len(server.lists) == len(server.watches) == 1
    assert handler.notifications == ["add! ns/a@101", *["update ns/a@101>101"] * 2]
    assert without.notifications == ["add! ns/a@101"]
    assert often.notifications == ["add! ns/a@101", *["update ns/a@101>101"] * 6]


@virtual_time
async def test_resyncs_are_at_least_a_second_apart() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    handler = Recorder()
    informer.add_handler(handler, resync_s=0.001)
    async with running(informer):
        await asyncio.sleep(5.5)
    assert len(handler.notifications) == 1 + 5


@virtual_time
async def test_a_late_handler_gets_its_own_resyncs() -> None:
    server = FakeServer()
    server.put("a")
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(3)
        handler = Recorder()
        informer.add_handler(handler, resync_s=2)
        await asyncio.sleep(5)
    assert handler.notifications == ["add! ns/a@101", *["update ns/a@101>101"] * 2]


@pytest.mark.parametrize("compress", [False, True], ids=["in-order", "delta-fifo"])
def test_a_deletion_in_the_queue_is_not_reported_again_by_a_list_behind_it(compress: bool) -> None:
    @virtual_time
    async def check() -> None:
        server = FakeServer()
        server.put("a")
        reflector = ReflectorSettings(streaming=False, rand=lambda: 0.0)
        informer = SharedInformer(server, WIDGETS, settings=InformerSettings(reflector, compress_deltas=compress))
        handler = Recorder()
        informer.add_handler(handler)
        server.plans.append(Plan(events=1, end=TransportError("cut", sent=True)))
        async with running(informer):
            await informer.synced()
            await settle()
            server.delete("a")
            server.put("a")
            server.compact()
            await asyncio.sleep(20)
        assert store_of(informer) == state_of(server)
        assert handler.present() == state_of(server)

    check()


@virtual_time
async def test_every_read_returns_a_new_copy() -> None:
    server = FakeServer()
    server.put("a", spec={"size": 1})
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
    lister = informer.lister()
    first = lister.get("ns/a")
    assert first is not None
    first["spec"]["size"] = 2
    assert lister.list() == [{**first, "spec": {"size": 1}}]


@virtual_time
async def test_managed_fields_are_dropped_by_default() -> None:
    server = FakeServer()
    obj = server.put("a")
    obj["metadata"]["managedFields"] = [{"manager": "x"}]
    dropping = informer_of(server)
    keeping = SharedInformer(server, WIDGETS, settings=InformerSettings(keep_managed_fields=True))
    async with running(dropping), running(keeping):
        await dropping.synced()
        await keeping.synced()
    dropped, retained = dropping.lister().get("ns/a"), keeping.lister().get("ns/a")
    assert dropped is not None
    assert retained is not None
    assert "managedFields" not in dropped["metadata"]
    assert retained["metadata"]["managedFields"] == [{"manager": "x"}]


# Reading one's own writes.


@virtual_time
async def test_at_least_waits_until_the_store_has_a_write() -> None:
    server = FakeServer()
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        written = server.put("a")["metadata"]["resourceVersion"]
        assert informer.indexer.get("ns/a") is None
        await informer.at_least(written)
        assert informer.indexer.get("ns/a") is not None
        await informer.at_least("50")


@virtual_time
async def test_a_bookmark_is_enough_to_have_reached_a_version() -> None:
    server = FakeServer()
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        waiting = asyncio.create_task(informer.at_least("110"))
        await settle()
        assert not waiting.done()
        server.version = 110
        server.bookmark()
        await waiting


@virtual_time
async def test_waiting_for_a_version_that_does_not_come_times_out() -> None:
    informer = informer_of(FakeServer())
    async with running(informer):
        await informer.synced()
        with pytest.raises(TimeoutError):
            await informer.at_least("1000", timeout_s=5)


@virtual_time
async def test_versions_that_are_no_numbers_are_reached_only_exactly() -> None:
    informer = informer_of(FakeServer())
    async with running(informer):
        await informer.synced()
        with pytest.raises(TimeoutError):
            await informer.at_least("a7", timeout_s=5)
        waiting = asyncio.create_task(informer.at_least("a7"))
        await settle()
        informer.indexer.bookmark("a7")
        await waiting


@virtual_time
async def test_a_handler_that_waits_for_something_cancelled_is_reported_the_next_event(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = FakeServer()
    server.put("a")
    server.put("b")
    notifications: list[str] = []

    async def wait(obj: Ref[Object]) -> None:
        notifications.append(obj.name)
        cancelled = asyncio.get_running_loop().create_future()
        cancelled.cancel()
        await cancelled

    informer = informer_of(server)
    registration = informer.add_handler(EventHandlerFuncs(add=wait))
    async with running(informer):
        await registration.synced()
    assert notifications == ["a", "b"]
    assert "awaited a cancelled task" in caplog.text


@virtual_time
async def test_a_handler_that_is_slow_is_notified_of_in_the_log_but_a_long_list_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = FakeServer()
    for number in range(10_500):
        server.put(f"w{number}")

    async def stuck(_: Ref[Object]) -> None:
        await asyncio.Event().wait()

    informer = informer_of(server)
    informer.add_handler(EventHandlerFuncs(add=stuck))
    async with running(informer):
        await informer.synced()
        assert "too slow" not in caplog.text
        for _ in range(10_001):
            server.put("w0")
        await asyncio.sleep(1)
        assert "too slow" in caplog.text
    assert informer.size_bytes > 10_500 * 100


@virtual_time
async def test_resyncs_work_with_gathered_deltas_too() -> None:
    server = FakeServer()
    server.put("a")
    informer = SharedInformer(server, WIDGETS, settings=InformerSettings(compress_deltas=True))
    often, seldom, never = Recorder(), Recorder(), Recorder()
    informer.add_handler(often, resync_s=10)
    informer.add_handler(seldom, resync_s=25)
    informer.add_handler(never)
    async with running(informer):
        await asyncio.sleep(51)
    assert [len(handler.notifications) - 1 for handler in (often, seldom, never)] == [5, 2, 0]


@virtual_time
async def test_a_handler_of_watch_errors_that_raises_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    server = FakeServer()
    server.list_faults.append(TransportError("refused", sent=False))
    informer = informer_of(server)

    def fail(_: WatchFailure) -> None:
        raise LookupError("oh")

    informer.set_watch_error_handler(fail)
    async with running(informer):
        await informer.synced()
    assert "LookupError: oh" in caplog.text


@virtual_time
async def test_a_client_that_waits_for_an_informer_that_stops_is_ended_with_an_error() -> None:
    server = FakeServer()
    server.list_faults.extend([TransportError("refused", sent=False)] * 9)
    informer = informer_of(server)
    async with running(informer):
        synced = asyncio.create_task(informer.synced())
        version = asyncio.create_task(informer.at_least("7"))
        await asyncio.sleep(1)
    for waiting in (synced, version):
        with pytest.raises(InformerStopped):
            await waiting
    with pytest.raises(InformerStopped):
        await informer.at_least("7")
