"""Guarantees of a controller for its workers, its sources and its end."""

import asyncio
import logging
import threading
import time

import pytest

from sampan.operator.controller import (
    CacheSyncTimeout,
    Controller,
    ControllerOptions,
    ReconcileLogFilter,
    current_reconcile,
)
from sampan.operator.queue import WorkQueue
from sampan.operator.request import Request, Result
from sampan.operator.source import ChannelSource, PeriodicSource
from sampan.testing.time.virtual_time import elapsed, settle, virtual_time
from tests.operator.controller.frame import A, B, NoSource, at_work

FOUR = ControllerOptions(max_concurrent_reconciles=4)


@virtual_time
async def test_one_key_is_never_in_two_workers() -> None:
    under_way: set[Request] = set()
    most = 0

    async def reconcile(request: Request) -> None:
        nonlocal most
        assert request not in under_way
        under_way.add(request)
        most = max(most, len(under_way))
        await asyncio.sleep(1)
        under_way.remove(request)

    async with at_work(reconcile, FOUR) as bench:
        for _ in range(20):
            bench.add(A, B)
            await asyncio.sleep(0.3)
    assert most == 2
    assert bench.metric("reconcile_errors_total") == 0


@virtual_time
async def test_as_many_objects_are_worked_on_as_there_are_workers() -> None:
    most = 0

    async def reconcile(request: Request) -> None:
        nonlocal most
        most = max(most, int(bench.metric("active_workers") or 0))
        await asyncio.sleep(1)

    async with at_work(reconcile, FOUR) as bench:
        bench.add(*(Request("ns", str(number)) for number in range(9)))
        await asyncio.sleep(10)
    assert most == 4
    assert bench.metric("max_concurrent_reconciles") == 4
    assert bench.metric("active_workers") == 0
    assert bench.metric("reconcile_time_seconds_sum") == 9


@virtual_time
async def test_a_worker_survives_whatever_a_reconciler_raises() -> None:
    class Odd(Exception):
        pass

    raised = [Odd(), ExceptionGroup("several", [ValueError(), KeyError()]), RecursionError(), StopIteration()]

    async def reconcile(request: Request) -> None:
        if raised:
            raise raised.pop()

    async with at_work(reconcile) as bench:
        bench.add(A)
        await asyncio.sleep(1)
    assert bench.metric("reconcile_errors_total") == 4
    assert bench.metric("reconcile_total", result="success") == 1


@virtual_time
async def test_a_cancellation_raised_by_a_reconciler_is_retried_like_an_error() -> None:
    tries = 0

    async def reconcile(request: Request) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise asyncio.CancelledError

    async with at_work(reconcile) as bench:
        bench.add(A)
        await asyncio.sleep(1)
    assert tries == 2


@virtual_time
async def test_a_reconcile_that_takes_too_long_is_cancelled_and_tried_again() -> None:
    ended: list[str] = []

    async def reconcile(request: Request) -> None:
        try:
            await asyncio.sleep(100 if not ended else 1)
            ended.append("well")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async with at_work(reconcile, ControllerOptions(reconcile_timeout_s=10)) as bench:
        bench.add(A)
        await asyncio.sleep(50)
    assert ended == ["cancelled", "well"]
    assert bench.metric("reconcile_timeouts_total") == 1


@virtual_time
async def test_a_timeout_of_the_reconcilers_own_is_not_counted_as_the_controllers() -> None:
    async def reconcile(request: Request) -> None:
        raise TimeoutError

    async with at_work(reconcile, ControllerOptions(reconcile_timeout_s=10)) as bench:
        bench.add(A)
        await settle()
    assert bench.metric("reconcile_timeouts_total") == 0
    assert bench.metric("reconcile_errors_total") == 1


@virtual_time
async def test_cancelling_run_cancels_what_is_under_way() -> None:
    ended: list[str] = []

    async def reconcile(request: Request) -> None:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append("ended")

    async with at_work(reconcile) as bench:
        bench.add(A)
        await settle()
    assert ended == ["ended"]


@virtual_time
async def test_drain_lets_what_is_under_way_end_and_begins_nothing_more() -> None:
    done: list[str] = []

    async def reconcile(request: Request) -> None:
        await asyncio.sleep(5)
        done.append(request.name)

    controller = Controller("c", reconcile)
    controller.watch(NoSource())
    running = asyncio.create_task(controller.run())
    controller.queue.add(A)
    controller.queue.add(B)
    await settle()
    await controller.drain()
    assert done == ["a"]
    await running


@virtual_time
async def test_a_controller_that_has_not_begun_is_drained_at_once() -> None:
    controller = Controller("c", lambda request: None)
    assert await elapsed(controller.drain()) == 0


@virtual_time
async def test_a_controller_runs_once() -> None:
    async with at_work(lambda request: None) as bench:
        with pytest.raises(RuntimeError, match="started more than once"):
            await bench.controller.run()


class Silent:
    """A source that never syncs."""

    def __str__(self) -> str:
        return "silent source"

    async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
        queue.add(A)
        await asyncio.get_running_loop().create_future()


@virtual_time
async def test_a_source_that_does_not_sync_in_two_minutes_ends_the_controller() -> None:
    requested: list[Request] = []
    controller = Controller("c", requested.append)
    controller.watch(Silent())
    with pytest.raises(CacheSyncTimeout, match="silent source has not synced in 120 s"):
        await controller.run()
    assert asyncio.get_running_loop().time() == 120
    assert requested == []


@virtual_time
async def test_an_error_of_a_source_ends_the_controller() -> None:
    class Broken:
        async def run(self, queue: WorkQueue[Request], *, synced: asyncio.Event) -> None:
            raise PermissionError("no")

    controller = Controller("c", lambda request: None)
    controller.watch(Broken())
    with pytest.raises(PermissionError):
        await controller.run()


@virtual_time
async def test_warmed_up_sources_fill_the_queue_before_anything_is_reconciled() -> None:
    requested: list[Request] = []

    async def reconcile(request: Request) -> None:
        requested.append(request)

    channel: ChannelSource[str] = ChannelSource(lambda name: [Request("", name)])
    controller = Controller("c", reconcile, options=ControllerOptions(warm_up=True))
    controller.watch(channel)
    warm = asyncio.create_task(controller.warm_up())
    await controller.ready()
    await channel.put("a")
    await settle()
    assert (len(controller.queue), requested) == (1, [])
    running = asyncio.create_task(controller.run())
    await settle()
    assert requested == [Request("", "a")]
    for task in (running, warm):
        task.cancel()
        await asyncio.wait({task})


@virtual_time
async def test_a_running_controller_takes_no_more_sources() -> None:
    async with at_work(lambda request: None) as bench:
        with pytest.raises(RuntimeError, match="add sources before the start"):
            bench.controller.watch(NoSource())


@virtual_time
async def test_a_periodic_source_requests_again_and_again() -> None:
    requested_at: list[float] = []

    async def reconcile(request: Request) -> None:
        requested_at.append(asyncio.get_running_loop().time())

    controller = Controller("c", reconcile)
    controller.watch(PeriodicSource(lambda: [A], 60, jitter=0))
    running = asyncio.create_task(controller.run())
    await asyncio.sleep(200)
    running.cancel()
    await asyncio.wait({running})
    assert requested_at == [60, 120, 180]


@virtual_time
async def test_a_periodic_source_without_objects_is_idle() -> None:
    requested_at: list[float] = []
    filled = asyncio.Event()

    async def reconcile(request: Request) -> None:
        requested_at.append(asyncio.get_running_loop().time())

    async def available() -> None:
        await filled.wait()

    controller = Controller("c", reconcile)
    controller.watch(PeriodicSource(lambda: [A], 60, jitter=0, available=available))
    running = asyncio.create_task(controller.run())
    await asyncio.sleep(100)
    filled.set()
    await asyncio.sleep(100)
    running.cancel()
    await asyncio.wait({running})
    assert requested_at == [160]


async def test_a_full_channel_refuses() -> None:
    channel: ChannelSource[str] = ChannelSource(lambda name: [], size_max=1)
    channel.put_nowait("a")
    with pytest.raises(asyncio.QueueFull):
        channel.put_nowait("b")


async def test_a_plain_reconciler_runs_in_a_thread_and_has_its_reconcile() -> None:
    observed: list[tuple[str, str]] = []
    done = asyncio.Event()
    loop = asyncio.get_running_loop()

    def reconcile(request: Request) -> Result | None:
        context = current_reconcile()
        assert context is not None
        observed.append((threading.current_thread().name.partition("_")[0], context.request.key))
        loop.call_soon_threadsafe(done.set)
        return None

    async with at_work(reconcile) as bench:
        bench.add(A)
        await done.wait()
    assert observed == [("reconcile-c", "default/a")]


async def test_a_plain_reconciler_that_is_over_time_keeps_its_key_until_its_thread_ends() -> None:
    release = threading.Event()
    begun = asyncio.Event()
    under_way: list[int] = []
    finished = asyncio.Event()
    loop = asyncio.get_running_loop()

    def reconcile(request: Request) -> None:
        under_way.append(1)
        assert sum(under_way) == 1
        if not release.is_set():
            loop.call_soon_threadsafe(begun.set)
            release.wait(10)
            time.sleep(0.01)
        else:
            loop.call_soon_threadsafe(finished.set)
        under_way.append(-1)

    options = ControllerOptions(max_concurrent_reconciles=2, reconcile_timeout_s=0.02)
    async with at_work(reconcile, options) as bench:
        bench.add(A)
        await begun.wait()
        bench.add(A)
        await asyncio.sleep(0.03)
        release.set()
        await finished.wait()
    assert bench.metric("reconcile_timeouts_total")


async def test_a_function_that_returns_an_awaitable_is_awaited() -> None:
    done = asyncio.Event()

    async def inner() -> None:
        done.set()

    async with at_work(lambda request: inner()) as bench:
        bench.add(A)
        await done.wait()


@pytest.mark.parametrize("what", [None, 5, Result], ids=["none", "number", "class"])
def test_an_invalid_reconciler_is_refused(what: object) -> None:
    with pytest.raises(TypeError, match="neither a function nor"):
        Controller("c", what)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [{"max_concurrent_reconciles": 0}, {"reconcile_timeout_s": 0}, {"cache_sync_timeout_s": -1}, {"debounce_s": -1}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ControllerOptions(**wrong)  # type: ignore[arg-type]


@virtual_time
async def test_log_lines_of_a_reconciler_report_which_reconcile_they_belong_to(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = logging.getLogger("mine")
    caplog.handler.addFilter(log_filter := ReconcileLogFilter())

    async def reconcile(request: Request) -> None:
        log.warning("cannot reconcile yet")

    async with at_work(reconcile) as bench:
        bench.add(A)
        await settle()
    log.warning("outside a reconcile")
    caplog.handler.removeFilter(log_filter)
    within, unrelated = [record.__dict__ for record in caplog.records if record.name == "mine"]
    assert (within["controller"], within["request"], len(within["reconcile_id"])) == ("c", "default/a", 36)
    assert (unrelated["controller"], unrelated["request"], unrelated["reconcile_id"]) == ("", "", "")
