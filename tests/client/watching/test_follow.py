"""A watch that outlives its connections, against a source that misbehaves. In virtual time."""

import asyncio
import itertools
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from sampan.client import (
    Backoff,
    Expired,
    Forbidden,
    ListOptions,
    RawEvent,
    RawList,
    TransportError,
    api_error,
)
from sampan.client.objects.head import object_head
from sampan.client.watching.follow import follow
from sampan.testing import virtual_time
from tests.client.scripted_transport import Batch, ScriptedListWatch, body, error_event, event

SINCE_5 = ListOptions(resource_version="5")
STEADY = Backoff(1.0)
BROKEN = TransportError("broken", sent=True)
SERVICE_UNAVAILABLE = {"kind": "Status", "code": 503, "reason": "ServiceUnavailable"}
TOO_MANY = {"kind": "Status", "code": 429, "reason": "TooManyRequests", "details": {"retryAfterSeconds": 7}}


async def first_events(source: ScriptedListWatch, count: int, options: ListOptions = SINCE_5) -> list[tuple[str, str]]:
    """The type and the name of the first events."""
    found: list[tuple[str, str]] = []
    async with aclosing(follow(source, options, backoff=STEADY)) as batches:
        async for batch in batches:
            found += [(each.type, object_head(each.object).metadata.name) for each in batch]
            if len(found) >= count:
                break
    return found


def watching(*watches: Sequence[Batch] | Exception) -> ScriptedListWatch:
    return ScriptedListWatch(watches=list(watches))


def versions(source: ScriptedListWatch) -> list[str | None]:
    return [options.resource_version for options in source.watched]


@virtual_time
async def test_it_goes_on_after_the_last_event_when_the_server_ends_the_watch() -> None:
    source = watching([[event("ADDED", "a", 6)], 400.0], [[event("MODIFIED", "a", 9)]])
    assert await first_events(source, 2) == [("ADDED", "a"), ("MODIFIED", "a")]
    assert versions(source) == ["5", "6"]


@virtual_time
async def test_a_bookmark_moves_it_on_and_is_not_shown() -> None:
    source = watching([[event("ADDED", "a", 6), event("BOOKMARK", "", 50)]], [[event("DELETED", "a", 51)]])
    assert await first_events(source, 2) == [("ADDED", "a"), ("DELETED", "a")]
    assert versions(source) == ["5", "50"]
    assert all(options.allow_watch_bookmarks for options in source.watched)


@virtual_time
async def test_a_server_that_ends_every_watch_at_once_is_called_once_a_second() -> None:
    source = watching([], [], [], [[event("ADDED", "a", 6)]])
    await first_events(source, 1)
    assert source.times == [0, 1, 2, 3]


@virtual_time
async def test_a_watch_that_lasted_is_resumed_at_once() -> None:
    source = watching([150.0], [[event("ADDED", "a", 6)]])
    await first_events(source, 1)
    assert source.times == [0, 150]


@virtual_time
async def test_a_watch_that_is_silent_too_long_is_replaced_where_it_was() -> None:
    source = watching([[event("ADDED", "a", 6)], 1000.0], [[event("MODIFIED", "a", 7)]])
    assert await first_events(source, 2) == [("ADDED", "a"), ("MODIFIED", "a")]
    assert source.times == [0, 180]
    assert versions(source) == ["5", "6"]


@virtual_time
async def test_a_silent_watch_with_bookmarks_is_replaced_sooner() -> None:
    source = watching([60.0, [event("BOOKMARK", "a", 6)], 1000.0], [[event("MODIFIED", "a", 7)]])
    await first_events(source, 1)
    assert source.times == [0, 150]
    assert versions(source) == ["5", "6"]


@virtual_time
async def test_the_back_off_of_an_outage_is_over_once_a_watch_has_lasted() -> None:
    source = watching(*[BROKEN] * 4, [[], 5.0, BROKEN], BROKEN, [[event("ADDED", "a", 6)]])
    async with aclosing(follow(source, SINCE_5, backoff=Backoff(0.8, factor=2.0, cap_s=30.0))) as batches:
        await anext(batches)
    delays = [round(later - earlier, 3) for earlier, later in itertools.pairwise(source.times)]
    assert delays == [0.8, 1.6, 3.2, 6.4, 5.8, 1.6]


FAULTS: dict[str, Sequence[Batch] | Exception] = {
    "no connection": TransportError("refused", sent=False),
    "503 at the start": api_error(SERVICE_UNAVAILABLE),
    "429 at the start": api_error({"code": 429, "reason": "TooManyRequests"}),
    "the stream breaks": [BROKEN],
    "500 in the stream": [[error_event(500, "InternalError")]],
    "504 in the stream": [[error_event(504, "Timeout")]],
    "an error that is no Status": [[RawEvent("ERROR", event("ADDED", "a", 1).object)]],
    "an object without a version": [[event("MODIFIED", "a", "")]],
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
@virtual_time
async def test_a_fault_is_waited_out_and_nothing_is_lost(fault: Sequence[Batch] | Exception) -> None:
    source = watching([[event("ADDED", "a", 6)], 10.0], fault, [[event("MODIFIED", "a", 7)]])
    assert await first_events(source, 2) == [("ADDED", "a"), ("MODIFIED", "a")]
    assert versions(source) == ["5", "6", "6"]
    assert source.times == [0, 10, 11]


@virtual_time
async def test_events_before_an_error_in_the_same_batch_count() -> None:
    source = watching([[event("ADDED", "a", 6), error_event(500)]], [[event("ADDED", "b", 7)]])
    assert await first_events(source, 2) == [("ADDED", "a"), ("ADDED", "b")]
    assert versions(source) == ["5", "6"]


@virtual_time
async def test_retry_after_is_honoured() -> None:
    source = watching(api_error(TOO_MANY), [[event("ADDED", "a", 6)]])
    await first_events(source, 1)
    assert source.times == [0, 7]


EXPIRED: dict[str, Sequence[Batch] | Exception] = {
    "answer": api_error({"code": 410, "reason": "Expired"}),
    "in the stream": [[error_event(410, "Expired")]],
    "in the stream, as Gone": [[error_event(410, "Gone")]],
}


@pytest.mark.parametrize("fault", EXPIRED.values(), ids=EXPIRED.keys())
@virtual_time
async def test_it_is_reported_when_the_server_has_forgotten(fault: Sequence[Batch] | Exception) -> None:
    with pytest.raises(Expired):
        await first_events(watching(fault), 1)


@virtual_time
async def test_a_permanent_error_is_raised() -> None:
    with pytest.raises(Forbidden):
        await first_events(watching(api_error({"code": 403, "reason": "Forbidden"})), 1)


@virtual_time
async def test_the_delays_grow_to_half_a_minute_and_start_again_after_two_quiet_minutes() -> None:
    source = watching(*[BROKEN] * 8, [150.0, BROKEN], [[event("ADDED", "a", 6)]])
    async with aclosing(follow(source, SINCE_5, backoff=Backoff(0.8, factor=2.0, cap_s=30.0))) as batches:
        await anext(batches)
    delays = [round(later - earlier, 3) for earlier, later in itertools.pairwise(source.times)]
    assert delays == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30, 150.8]


@virtual_time
async def test_with_a_bounded_back_off_the_last_failure_is_raised() -> None:
    source = watching(*[BROKEN] * 3)
    with pytest.raises(TransportError, match="broken"):
        async with aclosing(follow(source, SINCE_5, backoff=Backoff(1.0, steps=3))) as batches:
            await anext(batches)
    assert source.times == [0, 1, 2]


@pytest.mark.parametrize("version", [None, "", "0"])
@virtual_time
async def test_without_a_version_it_lists_first(version: str | None) -> None:
    source = watching([[event("MODIFIED", "a", 11)]])
    source.lists = [RawList([body("a", 3), body("b", 2)], "10")]
    found = await first_events(source, 3, ListOptions(resource_version=version, label_selector="x"))
    assert found == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a")]
    assert versions(source) == ["10"]
    assert source.listed[0].label_selector == "x"


@virtual_time
async def test_the_first_list_is_tried_again_too() -> None:
    source = ScriptedListWatch(lists=[BROKEN, api_error(SERVICE_UNAVAILABLE), RawList([body("a", 3)], "10")])
    assert await first_events(source, 1, ListOptions()) == [("ADDED", "a")]


@virtual_time
async def test_a_list_that_is_refused_is_not() -> None:
    source = ScriptedListWatch(lists=[api_error({"code": 403, "reason": "Forbidden"})])
    with pytest.raises(Forbidden):
        await first_events(source, 1, ListOptions())


@virtual_time
async def test_it_ends_by_cancellation() -> None:
    source = watching()
    task = asyncio.create_task(first_events(source, 1))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
