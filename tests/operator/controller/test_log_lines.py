"""Log lines of a controller for reconciles that fail or take long."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from sampan.client import Client, TransportError, api_error
from sampan.operator.caches.cache import StaleCache
from sampan.operator.controller import ControllerOptions
from sampan.operator.controller.awaited import awaited
from sampan.operator.queue import ItemExponentialFailureRateLimiter
from sampan.operator.request import Request, TerminalError
from sampan.server.request import Request as HttpRequest
from sampan.server.request import Response
from sampan.testing.servers.in_process import InProcessTransport
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.operator.cluster import CONFIG_MAPS
from tests.operator.controller.frame import A, B, at_work

CONFLICT = api_error({"code": 409, "reason": "Conflict", "message": "the object has been modified"})

EXPECTED: dict[str, Exception] = {
    "api": api_error({"code": 403, "reason": "Forbidden", "message": "pods is forbidden"}),
    "network": TransportError("connection refused", sent=False),
    "os": ConnectionResetError("reset by peer"),
    "timeout": TimeoutError("took too long"),
    "stale cache": StaleCache("the cache of pods has not reached 7"),
    "terminal": TerminalError("no such driver"),
    "group": ExceptionGroup("both", [TimeoutError("one"), TransportError("two", sent=True)]),
}


@pytest.fixture(autouse=True)
def _information(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "sampan.controller")


def options() -> ControllerOptions:
    """Failures wait 1, 2, 4, 8, 16, 16 … seconds."""
    return ControllerOptions(rate_limiter=ItemExponentialFailureRateLimiter(1, 16))


def failing(*errors: Exception) -> Callable[[Request], Awaitable[None]]:
    """Raises the errors one after the other, the last one again and again."""
    left = list(errors)

    async def reconcile(request: Request) -> None:
        raise left.pop(0) if len(left) > 1 else left[0]

    return reconcile


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines without the id of the reconcile."""
    lines = [record for record in caplog.records if "synced" not in record.getMessage()]
    return [record.getMessage().partition(" (reconcile")[0] for record in lines]


@pytest.mark.parametrize("error", EXPECTED.values(), ids=EXPECTED.keys())
@virtual_time
async def test_an_error_of_the_server_or_the_network_is_one_line(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async with at_work(failing(error), options()) as bench:
        bench.add(A)
        await settle()
    [record] = [record for record in caplog.records if record.name == "sampan.controller"]
    assert record.exc_info is None
    assert "\n" not in record.getMessage()
    assert "controller c: default/a: " in record.getMessage()


@pytest.mark.parametrize("error", [KeyError("spec"), AttributeError("x"), RuntimeError("y"), ValueError("z")])
@virtual_time
async def test_a_fault_of_the_program_is_logged_with_its_traceback_once(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async with at_work(failing(error), options()) as bench:
        bench.add(A)
        await asyncio.sleep(100)
    traces = [record for record in caplog.records if record.exc_info]
    assert len(traces) == 1
    assert traces[0].exc_info is not None
    assert traces[0].exc_info[1] is error


@virtual_time
async def test_a_failure_names_controller_object_cause_and_the_delay(caplog: pytest.LogCaptureFixture) -> None:
    async with at_work(failing(EXPECTED["api"]), options()) as bench:
        bench.add(A)
        await settle()
    assert logged(caplog) == ["controller c: default/a: Forbidden: pods is forbidden; retrying in 1 s"]


@virtual_time
async def test_a_terminal_failure_reports_that_it_is_not_retried(caplog: pytest.LogCaptureFixture) -> None:
    async with at_work(failing(TerminalError("no such driver")), options()) as bench:
        bench.add(A)
        await settle()
    assert logged(caplog) == ["controller c: default/a: TerminalError: no such driver; not retrying"]


@virtual_time
async def test_the_same_failure_again_is_counted_and_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    async with at_work(failing(EXPECTED["network"]), options()) as bench:
        bench.add(A)
        await asyncio.sleep(130)  # attempts after 0, 1, 3, 7, 15, 31, 47, 63, 79, 95, 111, 127 s
    text = "TransportError: connection refused; retrying in"
    assert logged(caplog) == [
        f"controller c: default/a: {text} 1 s",
        f"controller c: default/a: failed 5 times in 15 s: {text} 16 s",
        f"controller c: default/a: failed 9 times in 79 s: {text} 16 s",
    ]


@virtual_time
async def test_another_failure_of_the_object_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    async with at_work(failing(EXPECTED["network"], EXPECTED["network"], EXPECTED["api"]), options()) as bench:
        bench.add(A)
        await asyncio.sleep(5)
    assert [line.split(": ")[2] for line in logged(caplog)] == ["TransportError", "Forbidden"]


@virtual_time
async def test_failures_of_different_objects_are_logged_each(caplog: pytest.LogCaptureFixture) -> None:
    async with at_work(failing(EXPECTED["network"]), options()) as bench:
        bench.add(A, B)
        await settle()
    assert [line.split(": ")[1] for line in logged(caplog)] == ["default/a", "default/b"]


@virtual_time
async def test_a_conflict_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    async with at_work(failing(CONFLICT), options()) as bench:
        bench.add(A)
        await settle()
    assert [record.levelname for record in caplog.records if "Conflict" in record.getMessage()] == ["INFO"]


@virtual_time
async def test_success_after_repeated_failures_is_logged_and_ends_the_count(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    outcomes: list[Exception | None] = [CONFLICT, CONFLICT, None, CONFLICT]

    async def reconcile(request: Request) -> None:
        outcome = outcomes.pop(0) if outcomes else None
        if outcome is not None:
            raise outcome

    async with at_work(reconcile, options()) as bench:
        bench.add(A)
        await asyncio.sleep(10)
        bench.add(A)
        await asyncio.sleep(10)
    text = "controller c: default/a: Conflict: the object has been modified; retrying in 1 s"
    assert logged(caplog) == [text, "controller c: default/a: succeeded after 2 failures", text]


async def never(request: HttpRequest) -> Response:
    await asyncio.Event().wait()
    raise AssertionError


@virtual_time
async def test_a_slow_reconcile_is_warned_of_with_the_request_that_it_awaits(caplog: pytest.LogCaptureFixture) -> None:
    async with Client(InProcessTransport(never), request_timeout_s=1000, namespace="default") as client:

        async def reconcile(request: Request) -> None:
            await client.resource(CONFIG_MAPS).get(request.name)

        async with at_work(reconcile, options()) as bench:
            bench.add(A)
            await asyncio.sleep(59)
            assert logged(caplog) == []
            await asyncio.sleep(2)
    [line] = logged(caplog)
    assert line.startswith("controller c: default/a: the reconcile has been running for 60 s; it awaits ")
    assert "reconcile (test_log_lines.py:" in line
    assert line.endswith("request GET /api/v1/namespaces/default/configmaps/a")


@virtual_time
async def test_a_reconcile_that_stays_slow_is_warned_of_less_and_less_often(caplog: pytest.LogCaptureFixture) -> None:
    async def reconcile(request: Request) -> None:
        await asyncio.Event().wait()

    async with at_work(reconcile, options()) as bench:
        bench.add(A)
        await asyncio.sleep(500)
    assert [line.split("for ")[1].split(";")[0] for line in logged(caplog)] == ["60 s", "120 s", "240 s", "480 s"]
    assert "Event.wait (locks.py:" in logged(caplog)[0]


@virtual_time
async def test_a_fast_reconcile_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    async def reconcile(request: Request) -> None:
        await asyncio.sleep(59)

    async with at_work(reconcile, options()) as bench:
        for request in (A, B):
            bench.add(request)
        await asyncio.sleep(300)
    assert logged(caplog) == []


@virtual_time
async def test_nothing_is_reported_of_a_task_that_has_ended() -> None:
    task = asyncio.create_task(asyncio.sleep(0))
    await task
    assert awaited(task) == ""


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="slow_reconcile_s must be positive"):
        ControllerOptions(slow_reconcile_s=0)
