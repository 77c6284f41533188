"""Effects of the results and errors of a reconciler."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from sampan.operator.controller import ControllerOptions, current_reconcile
from sampan.operator.queue import ItemExponentialFailureRateLimiter
from sampan.operator.request import Request, Result, TerminalError
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.operator.controller.frame import A, Bench, at_work

Response = Any
"""A Result, None, an exception to raise, or what a reconciler should not return."""


def options() -> ControllerOptions:
    """Failures wait 1, 2, 4 … seconds."""
    return ControllerOptions(rate_limiter=ItemExponentialFailureRateLimiter(1, 60))


class Script:
    """Reconciler that returns one result after the other, and records the times of its calls."""

    def __init__(self, *responses: Response) -> None:
        self._responses = list(responses)
        self.requested_at: list[float] = []

    async def reconcile(self, request: Request) -> Result | None:
        self.requested_at.append(asyncio.get_running_loop().time())
        response = self._responses.pop(0) if self._responses else None
        if isinstance(response, Exception):
            raise response
        return response


async def play(script: Script, seconds: float, then: Callable[[Bench], None] | None = None) -> Bench:
    """Request A once and let time pass."""
    async with at_work(script, options()) as bench:
        bench.add(A)
        await asyncio.sleep(seconds)
        if then is not None:
            then(bench)
            await settle()
    return bench


@virtual_time
async def test_success_requests_no_more_and_forgets_earlier_failures() -> None:
    script = Script(ValueError("once"), None)
    bench = await play(script, 100)
    assert script.requested_at == [0, 1]
    assert bench.controller.queue.num_requeues(A) == 0
    assert bench.metric("reconcile_total", result="success") == 1


@virtual_time
async def test_an_error_is_tried_again_each_time_later() -> None:
    script = Script(*(ValueError(str(number)) for number in range(4)))
    bench = await play(script, 100)
    assert script.requested_at == [0, 1, 3, 7, 15]
    assert bench.metric("reconcile_errors_total") == 4
    assert bench.metric("reconcile_total", result="error") == 4


@virtual_time
async def test_requeue_after_looks_again_then() -> None:
    script = Script(Result(requeue_after_s=30))
    bench = await play(script, 100)
    assert script.requested_at == [0, 30]
    assert bench.metric("reconcile_total", result="requeue_after") == 1


@virtual_time
async def test_requeue_after_forgets_first() -> None:
    script = Script(ValueError(), ValueError(), Result(requeue_after_s=10), ValueError())
    await play(script, 100)
    assert script.requested_at == [0, 1, 3, 13, 14]


@virtual_time
async def test_an_error_beats_requeue_after() -> None:
    script = Script(Result(requeue_after_s=50), ValueError(), None)
    async with at_work(script, options()) as bench:
        bench.add(A)
        await asyncio.sleep(10)
        bench.add(A)
        await asyncio.sleep(100)
    assert script.requested_at == [0, 10, 11]


@virtual_time
async def test_a_terminal_error_counts_but_neither_requeues_nor_forgets() -> None:
    script = Script(ValueError(), TerminalError("never"))
    bench = await play(script, 100)
    assert script.requested_at == [0, 1]
    assert bench.controller.queue.num_requeues(A) == 1
    assert bench.metric("terminal_reconcile_errors_total") == 1
    assert bench.metric("reconcile_errors_total") == 2


@virtual_time
async def test_a_change_is_looked_at_even_after_a_terminal_error() -> None:
    script = Script(TerminalError("never"), None)
    await play(script, 10, then=lambda bench: bench.add(A))
    assert script.requested_at == [0, 10]


@virtual_time
async def test_the_priority_is_kept_over_retries_unless_the_result_states_another() -> None:
    responses: list[Response] = [ValueError(), Result(requeue_after_s=1), Result(requeue_after_s=1, priority=9)]
    observed: list[int] = []

    async def reconcile(request: Request) -> Result | None:
        context = current_reconcile()
        assert context is not None
        observed.append(context.priority)
        response = responses.pop(0) if responses else None
        if isinstance(response, Exception):
            raise response
        return response

    async with at_work(reconcile) as bench:
        bench.controller.queue.add(A, priority=-100)
        await asyncio.sleep(10)
    assert observed == [-100, -100, -100, 9]


@virtual_time
async def test_an_invalid_result_is_counted_as_a_panic_and_retried() -> None:
    script = Script(True, None)
    bench = await play(script, 10)
    assert script.requested_at == [0, 1]
    assert bench.metric("reconcile_panics_total") == 1


@virtual_time
async def test_an_error_is_logged_with_its_trace_and_reports_which_reconcile_it_was(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        await play(Script(KeyError("lost")), 0.5)
    [record] = [record for record in caplog.records if record.name == "sampan.controller"]
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], KeyError)
    assert record.__dict__["controller"] == "c"
    assert record.__dict__["request"] == "default/a"
    assert len(record.__dict__["reconcile_id"]) == 36
