"""One request for many simultaneous callers."""

import asyncio

import pytest

from sampan.storage.etcd.coalesced import CoalescedCall
from tests.storage.etcd.other_tasks import run_other_tasks


class Oracle:
    """Calls that the test completes. The result is the number of the call."""

    def __init__(self) -> None:
        self.requested = 0
        self._response = asyncio.Event()

    async def __call__(self) -> int:
        self.requested += 1
        number = self.requested
        await self._response.wait()
        return number

    async def response(self) -> None:
        self._response.set()
        await run_other_tasks()
        self._response.clear()


def calls_of(shared: CoalescedCall[int], times: int = 1) -> list[asyncio.Task[int]]:
    return [asyncio.create_task(shared.get()) for _ in range(times)]


def results(tasks: list[asyncio.Task[int]]) -> list[int]:
    return [task.result() for task in tasks]


@pytest.fixture(autouse=True)
def long_gathering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a request wait for further callers without a limit."""
    monkeypatch.setattr("sampan.storage.etcd.coalesced.GATHER_MAX_S", 3600.0)


async def test_calls_before_the_request_share_it() -> None:
    oracle = Oracle()
    tasks = calls_of(CoalescedCall(oracle), 3)
    await run_other_tasks()
    await oracle.response()
    assert results(tasks) == [1, 1, 1]


async def test_a_call_during_a_request_gets_the_response_of_a_later_one() -> None:
    oracle = Oracle()
    shared = CoalescedCall(oracle)
    first = calls_of(shared)
    await run_other_tasks()
    second = calls_of(shared)
    await run_other_tasks()
    await oracle.response()
    assert results(first) == [1]
    assert not second[0].done()
    third = calls_of(shared)
    await run_other_tasks()
    await oracle.response()
    assert results(second + third) == [2, 2]


async def test_a_request_waits_until_the_callers_of_the_previous_one_call_again() -> None:
    oracle = Oracle()
    shared = CoalescedCall(oracle)
    calls_of(shared, 2)
    await run_other_tasks()
    waiting = calls_of(shared, 3)
    await run_other_tasks()
    await oracle.response()
    waiting += calls_of(shared)
    await run_other_tasks()
    assert oracle.requested == 1
    waiting += calls_of(shared)
    await run_other_tasks()
    assert oracle.requested == 2
    await oracle.response()
    assert results(waiting) == [2] * 5


async def test_a_question_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.storage.etcd.coalesced.GATHER_MAX_S", 0.001)
    oracle = Oracle()
    shared = CoalescedCall(oracle)
    calls_of(shared, 2)
    await run_other_tasks()
    second = calls_of(shared)
    await run_other_tasks()
    await oracle.response()
    async with asyncio.timeout(60):
        while oracle.requested < 2:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.001)
        await oracle.response()
        assert await second[0] == 2


async def test_a_client_that_requests_alone_does_not_wait() -> None:
    oracle = Oracle()
    shared = CoalescedCall(oracle)
    for number in (1, 2, 3):
        tasks = calls_of(shared)
        await run_other_tasks()
        await oracle.response()
        assert results(tasks) == [number]


async def test_closing_cancels_all_waiting_calls() -> None:
    oracle = Oracle()
    shared = CoalescedCall(oracle)
    first = calls_of(shared)
    await run_other_tasks()
    second = calls_of(shared)
    await run_other_tasks()
    shared.close()
    await run_other_tasks()
    assert first[0].cancelled()
    assert second[0].cancelled()


async def test_a_failed_request_fails_all_its_callers_but_not_the_next() -> None:
    responses: list[int | Exception] = [OSError("away"), 2]

    async def call() -> int:
        await asyncio.sleep(0)
        response = responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    shared = CoalescedCall(call)
    assert [str(error) for error in await asyncio.gather(*calls_of(shared, 2), return_exceptions=True)] == ["away"] * 2
    assert await shared.get() == 2
