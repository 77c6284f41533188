"""The watch-fault matrix, in virtual time: whatever a server does, nothing is lost, hangs, or is flooded."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import msgspec
import pytest

from sampan.client import Client
from sampan.client.errors import TransportError, api_error
from sampan.client.watching.list_watch import RawEvent
from sampan.informer import InformerSettings, ReflectorSettings, SharedInformer, WatchFailure
from sampan.resource import Object
from sampan.testing.time.virtual_time import run_virtual, settle, virtual_time
from tests.client.scripted_transport import ScriptedTransport, reply
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

INTERNAL = status(500, "InternalError", "oh")

FAULTS = {
    "410-answered": Plan(refuse=expired()),
    "410-in-the-stream": Plan(events=1, end=EXPIRED_EVENT),
    "429-answered": Plan(refuse=too_many()),
    "429-in-the-stream": Plan(events=1, end=event("ERROR", status(429, "TooManyRequests"))),
    "500-answered": Plan(refuse=api_error(INTERNAL)),
    "500-in-the-stream": Plan(events=1, end=event("ERROR", INTERNAL)),
    "503-answered": Plan(refuse=api_error(status(503, "ServiceUnavailable"))),
    "504-answered": Plan(refuse=too_large(7)),
    "504-in-the-stream": Plan(events=0, end=event("ERROR", status(504, "Timeout", "Too large resource version: 7"))),
    "403-answered": Plan(refuse=api_error(status(403, "Forbidden"))),
    "404-answered": Plan(refuse=api_error(status(404, "NotFound"))),
    "an-error-that-is-no-status": Plan(events=0, end=RawEvent("ERROR", msgspec.Raw(b'"oh"'))),
    "refused-connection": Plan(refuse=TransportError("refused", sent=False)),
    "ends-at-once": Plan(events=0),
    "ends-after-each-event": Plan(events=1),
    "early-eof": Plan(events=1, end=TransportError("cut", sent=True)),
    "eof-at-once": Plan(events=0, end=TransportError("cut", sent=True)),
    "a-garbled-line": Plan(events=1, end=TransportError("a line of the watch is no event", sent=True)),
    "an-event-without-an-object": Plan(events=0, end=RawEvent("ADDED", msgspec.Raw(b"[]"))),
    "an-object-without-a-name": Plan(events=0, end=event("ADDED", {"metadata": {}})),
    "a-bookmark-without-metadata": Plan(events=0, end=event("BOOKMARK", {})),
    "an-event-of-an-unknown-type": Plan(events=0, end=event("MOVED", {"metadata": {"name": "x"}})),
    "half-open": Plan(silent=True),
    "repeated-events": Plan(repeat=10),
    "a-missing-bookmark": Plan(without_bookmark=True),
}

QUIET_S = 700.0
"""Longer than any watch, back-off or time-out."""


async def some_changes(server: FakeServer, *, pause_s: float) -> None:
    for round_ in range(3):
        server.put("a")
        await asyncio.sleep(pause_s)
        server.put(f"new-{round_}")
        server.delete("b")
        await asyncio.sleep(pause_s)
        server.put("b")
        await asyncio.sleep(pause_s)
        server.bookmark()


def new_server() -> FakeServer:
    server = FakeServer()
    server.put("a")
    server.put("b")
    return server


MODES = {
    "lists": InformerSettings(ReflectorSettings(streaming=False)),
    "streams": InformerSettings(ReflectorSettings(streaming=True)),
    "delta-fifo": InformerSettings(ReflectorSettings(streaming=False), compress_deltas=True),
}


async def survive(server: FakeServer, settings: InformerSettings, *, fault_s: float) -> SharedInformer[Object]:
    informer = SharedInformer(server, WIDGETS, settings=settings)
    handler = Recorder()
    informer.add_handler(handler)
    async with running(informer):
        await some_changes(server, pause_s=fault_s / 10)
        server.every_plan = None
        server.plans.clear()
        await asyncio.sleep(QUIET_S)
        assert store_of(informer) == state_of(server)
        assert handler.present() == state_of(server)
        assert informer.last_resource_version == str(server.version)
        assert server.open_watches == 1
    assert server.open_watches == 0
    return informer


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault_loses_nothing(fault: str, mode: str) -> None:
    async def check() -> None:
        server = new_server()
        server.has_streaming_lists = mode == "streams"
        server.plans.append(FAULTS[fault])
        await survive(server, MODES[mode], fault_s=30)
        assert len(server.began_at) <= 10

    run_virtual(check())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_for_ten_minutes_neither_floods_the_server_nor_loses_anything(fault: str, mode: str) -> None:
    async def check() -> None:
        server = new_server()
        server.has_streaming_lists = mode == "streams"
        server.every_plan = FAULTS[fault]
        await survive(server, MODES[mode], fault_s=600)
        # About 26 back-offs of 0.8 s doubled up to 30 s, each with a stream, a list and a watch at the most.
        assert len([at for at in server.began_at if at < 600]) <= 75
        seconds = [int(at) for at in server.began_at]
        assert max(seconds.count(second) for second in seconds) <= 8

    run_virtual(check())


@pytest.mark.parametrize(
    "fault",
    [
        too_many(),
        api_error(INTERNAL),
        api_error(status(503, "ServiceUnavailable")),
        too_large(7),
        expired(),
        TransportError("refused", sent=False),
        TransportError("cut", sent=True),
        api_error(status(404, "NotFound")),
    ],
    ids=["429", "500", "503", "504", "410", "refused", "cut", "404"],
)
def test_lists_that_fail_are_tried_again_with_a_growing_pause(fault: Exception) -> None:
    async def check() -> None:
        server = new_server()
        server.list_faults.extend([fault] * 20)
        informer = informer_of(server)
        async with running(informer):
            await asyncio.sleep(60)
            assert not informer.has_synced()
            assert len(server.began_at) <= 2 * 7
            await asyncio.sleep(600)
            assert store_of(informer) == state_of(server)

    run_virtual(check())


@virtual_time
async def test_the_pause_doubles_from_800_ms_to_30_s() -> None:
    server = new_server()
    server.list_faults.extend([TransportError("refused", sent=False)] * 8)
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(200)
    pauses = [round(after - before, 3) for before, after in pairwise(server.began_at[:9])]
    assert pauses == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]


@virtual_time
async def test_jitter_lengthens_a_pause_up_to_twice() -> None:
    server = new_server()
    server.list_faults.append(TransportError("refused", sent=False))
    settings = InformerSettings(ReflectorSettings(streaming=False, rand=lambda: 1.0))
    async with running(SharedInformer(server, WIDGETS, settings=settings)):
        await asyncio.sleep(10)
    assert server.began_at[1] - server.began_at[0] == pytest.approx(1.6)


@virtual_time
async def test_the_pause_begins_again_after_two_healthy_minutes() -> None:
    server = new_server()
    cut = TransportError("cut", sent=True)
    server.plans.extend([Plan(end=cut, events=0), Plan(end=cut, events=0), Plan(end=cut, after_s=130)])
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(140)
    pauses = [after - before for before, after in pairwise(server.began_at[1:])]
    assert pauses == pytest.approx([0.8, 1.6, 130.8])


@virtual_time
async def test_a_server_that_requests_time_gets_it_and_the_version_is_kept() -> None:
    server = new_server()
    server.plans.append(Plan(refuse=too_many(retry_after_s=40)))
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(100)
    assert server.began_at[2] - server.began_at[1] == 40
    assert [options.resource_version for options in server.watches] == ["102", "102"]
    assert len(server.lists) == 1


@virtual_time
async def test_a_lost_connection_is_resumed_where_it_was_without_a_list() -> None:
    server = new_server()
    server.plans.append(Plan(events=1, end=TransportError("cut", sent=True)))
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        server.put("c")
        await asyncio.sleep(10)
    assert [options.resource_version for options in server.watches] == ["102", "103"]
    assert len(server.lists) == 1


@virtual_time
async def test_internal_errors_of_a_watch_are_retried_for_a_minute_then_a_list_is_requested() -> None:
    server = new_server()
    server.every_plan = Plan(refuse=api_error(INTERNAL))
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(50)
        assert len(server.lists) == 1
        assert len(server.watches) == 6
        await asyncio.sleep(62)
        assert len(server.lists) == 2


@virtual_time
async def test_a_silent_watch_is_taken_for_half_open_after_three_minutes() -> None:
    server = new_server()
    server.plans.append(Plan(silent=True))
    informer = informer_of(server)
    async with running(informer):
        await informer.synced()
        server.put("c")
        await asyncio.sleep(179)
        assert len(server.watches) == 1
        await asyncio.sleep(2)
        assert store_of(informer) == state_of(server)
        assert informer.metrics.idle_watches == 1
    assert len(server.lists) == 1


@virtual_time
async def test_a_silent_watch_of_a_server_that_sends_bookmarks_is_replaced_after_ninety_seconds() -> None:
    server = new_server()
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(60)
        server.bookmark()
        await asyncio.sleep(89)
        assert len(server.watches) == 1
        await asyncio.sleep(2)
        assert len(server.watches) == 2
    assert len(server.lists) == 1


@virtual_time
async def test_watches_of_a_server_with_bookmarks_every_75_seconds_are_kept() -> None:
    server = new_server()
    informer = informer_of(server, watch_s_min=2000.0, watch_s_max=2000.0)
    async with running(informer):
        for _ in range(20):
            await asyncio.sleep(75)
            server.bookmark()
        assert len(server.watches) == 1


@virtual_time
async def test_watches_that_end_in_time_are_resumed_at_once_without_a_pause() -> None:
    server = new_server()
    informer = informer_of(server, idle_timeout_without_bookmarks_s=1000.0)
    async with running(informer):
        await asyncio.sleep(1000)
    assert [options.timeout_seconds for options in server.watches] == [300] * 4
    assert server.began_at == [0, 0, 300, 600, 900]


@virtual_time
async def test_the_time_of_a_watch_is_random_between_five_and_ten_minutes() -> None:
    server = new_server()
    informer = SharedInformer(server, WIDGETS, settings=InformerSettings(ReflectorSettings(streaming=False)))
    async with running(informer):
        await asyncio.sleep(5000)
    timeouts = {options.timeout_seconds for options in server.watches}
    assert len(timeouts) > 5
    assert all(300 <= (timeout or 0) <= 600 for timeout in timeouts)


@virtual_time
async def test_three_empty_watches_that_end_at_once_lead_to_a_list() -> None:
    server = new_server()
    server.plans.extend([Plan(events=0)] * 3)
    informer = informer_of(server)
    async with running(informer):
        await asyncio.sleep(20)
    assert len(server.lists) == 2
    assert informer.metrics.short_watches == 2


@virtual_time
async def test_every_failure_is_reported_to_the_watch_error_handler() -> None:
    server = new_server()
    refused, cut = TransportError("refused", sent=False), TransportError("cut", sent=True)
    server.list_faults.append(refused)
    server.plans.extend([Plan(refuse=cut), Plan(events=0, end=EXPIRED_EVENT)])
    notifications: list[WatchFailure] = []
    informer = informer_of(server)
    informer.set_watch_error_handler(notifications.append)
    async with running(informer):
        await asyncio.sleep(20)
    assert [type(failure.error).__name__ for failure in notifications] == [
        "TransportError",
        "TransportError",
        "Expired",
    ]
    assert [failure.error for failure in notifications[:2]] == [refused, cut]
    assert [failure.delay_s for failure in notifications] == [0.8, 1.6, 3.2]
    assert [failure.next_step for failure in notifications] == [
        "listing again",
        "resuming the watch from resourceVersion 102",
        "listing again",
    ]


@virtual_time
async def test_a_watch_failure_names_resource_namespace_cause_and_next_step(caplog: pytest.LogCaptureFixture) -> None:
    forbidden = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "widgets is forbidden"}
    transport = ScriptedTransport(by=lambda request: reply(forbidden, 403))
    widgets = Client(transport).resource(WIDGETS, namespace="a")
    settings = InformerSettings(ReflectorSettings(streaming=False, rand=lambda: 0.0))
    informer = SharedInformer(widgets.list_watch(label_selector="app=x"), WIDGETS, settings=settings)
    with caplog.at_level("INFO", "sampan.informer"):
        async with running(informer):
            await settle()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert caplog.messages == [
        "cannot list or watch widgets.example.com in namespace a with app=x: widgets is forbidden (403 Forbidden); "
        "listing again in 0.8 s"
    ]


@virtual_time
async def test_back_off_of_an_outage_is_over_once_a_watch_has_lasted() -> None:
    server = new_server()
    refused = Plan(refuse=TransportError("refused", sent=False))
    cut = Plan(events=0, after_s=5, end=TransportError("cut", sent=True))
    server.plans.extend([*[refused] * 6, replace(cut, accepted=True), refused])
    delays: list[float] = []
    informer = informer_of(server)
    informer.set_watch_error_handler(lambda failure: delays.append(failure.delay_s))
    async with running(informer):
        await asyncio.sleep(120)
    assert delays == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 0.8, 1.6]


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(Plan(accepted=True, events=0, end=TransportError("cut", sent=True)), id="cut-at-once"),
        pytest.param(Plan(accepted=True, events=0, after_s=5, end=EXPIRED_EVENT), id="expired"),
        pytest.param(Plan(events=0, after_s=5, end=TransportError("cut", sent=True)), id="never-accepted"),
    ],
)
def test_a_watch_that_is_no_success_does_not_reset_the_back_off(end: Plan) -> None:
    async def main() -> None:
        server = new_server()
        server.every_plan = end
        delays: list[float] = []
        informer = informer_of(server)
        informer.set_watch_error_handler(lambda failure: delays.append(failure.delay_s))
        async with running(informer):
            await asyncio.sleep(100)
        assert delays[:5] == [0.8, 1.6, 3.2, 6.4, 12.8]

    run_virtual(main())


@virtual_time
async def test_late_events_bring_nothing_back() -> None:
    server = new_server()
    informer = informer_of(server)
    handler = Recorder()
    informer.add_handler(handler)
    server.plans.append(Plan(events=2, end=TransportError("cut", sent=True)))
    server.plans.append(Plan(repeat=10))
    async with running(informer):
        await informer.synced()
        server.delete("a")
        server.put("b")
        await asyncio.sleep(10)
        server.put("c")
        await asyncio.sleep(1)
    assert handler.notifications[2:] == ["delete ns/a@103", "update ns/b@102>104", "add ns/c@105"]
    assert informer.metrics.stale == 4
    assert informer.last_resource_version == "105"


@virtual_time
async def test_a_late_bookmark_does_not_lead_back() -> None:
    server = new_server()
    informer = informer_of(server)
    server.plans.append(Plan(events=2, end=TransportError("cut", sent=True)))
    async with running(informer):
        await informer.synced()
        server.put("c")
        server.bookmark(50)
        await asyncio.sleep(10)
        assert informer.last_resource_version == "103"
    assert [options.resource_version for options in server.watches] == ["102", "103"]
