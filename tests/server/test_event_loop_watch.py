"""A blocked event loop is counted, and the log names the request that blocked it."""

import asyncio
import logging
import threading

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from sampan.core.event_loop import watch as loop_watch
from sampan.server.event_loop_watch import LoopWatch
from sampan.server.request import Request, UserInfo
from tests.server.requests import make_request

REQUEST = make_request("POST", "/api/v1/pods", "", {}, lambda limit: asyncio.sleep(0, b""), user=UserInfo("eve"))


async def test_the_log_names_the_request_that_blocks_the_loop(caplog: pytest.LogCaptureFixture) -> None:
    requested, logged = threading.Event(), threading.Event()
    records: list[logging.LogRecord] = []

    def request_of(task: asyncio.Task[object]) -> Request:
        requested.set()
        return REQUEST

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if hasattr(record, "path"):  # a busy machine may delay the loop before
                records.append(record)
                logged.set()

    handler = Handler()
    caplog.set_level(logging.DEBUG, "sampan.loop")
    logging.getLogger("sampan.loop").addHandler(handler)
    watch = LoopWatch(request_of, interval_s=0.001, block_s=0.001)
    watch.start()
    while not watch._seen[1]:
        pass  # this is the block: it lasts until the watch has looked
    assert await asyncio.to_thread(logged.wait, 60)
    watch.stop()
    logging.getLogger("sampan.loop").removeHandler(handler)
    record = records[0]
    assert record.getMessage().startswith("event loop ")
    assert (record.__dict__["method"], record.__dict__["path"], record.__dict__["user"]) == (
        "POST",
        "/api/v1/pods",
        "eve",
    )
    assert "test_event_loop_watch.py" in record.__dict__["stack"] or "threading.py" in record.__dict__["stack"]


@pytest.mark.parametrize(("delay_s", "lines"), [(0.05, 0), (0.2, 1)], ids=["short", "long"])
def test_only_blocks_are_logged(caplog: pytest.LogCaptureFixture, delay_s: float, lines: int) -> None:
    watch = LoopWatch(lambda task: None)
    watch.record(delay_s, delay_s, {})
    assert len(caplog.records) == lines


@pytest.mark.parametrize(("cpu_s", "levels"), [(0.01, ["DEBUG"]), (0.3, ["WARNING"])], ids=["starved", "busy"])
def test_a_delay_without_processor_time_is_no_block(
    caplog: pytest.LogCaptureFixture, cpu_s: float, levels: list[str]
) -> None:
    with caplog.at_level(logging.DEBUG, "sampan.loop"):
        LoopWatch(lambda task: None).record(0.4, cpu_s, {})
    assert [record.levelname for record in caplog.records] == levels


@pytest.mark.parametrize(("level", "shown"), [("WARNING", False), ("DEBUG", True)])
def test_only_developers_see_the_stack(caplog: pytest.LogCaptureFixture, level: str, *, shown: bool) -> None:
    with caplog.at_level(level, "sampan.loop"):
        LoopWatch(lambda task: None).record(0.4, 0.4, {"path": "/api", "stack": "a.py:1"})
    [record] = caplog.records
    assert (hasattr(record, "path"), hasattr(record, "stack")) == (True, shown)


def test_delays_are_a_histogram() -> None:
    watch, registry = LoopWatch(lambda task: None), CollectorRegistry()
    registry.register(watch)
    watch.record(0.02, 0.0, {})
    watch.record(0.3, 0.3, {})
    text = generate_latest(registry).decode()
    assert 'sampan_event_loop_delay_seconds_bucket{le="0.1"} 1.0' in text
    assert "sampan_event_loop_delay_seconds_count 2.0" in text


async def test_the_first_request_after_an_idle_phase_ends_a_long_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_watch, "IDLE_STRETCH", 1_000_000)
    monkeypatch.setattr(loop_watch, "IDLE_MAX_S", 1000)
    requested = threading.Event()
    watch = LoopWatch(lambda task: requested.set(), block_s=0.001)
    watch.start()
    while watch.pause_s < 1000:  # noqa: ASYNC110  # a thread sets it
        await asyncio.sleep(0.01)
    watch.note_request()
    blocked = requested.wait(60)
    watch.stop()
    assert blocked
