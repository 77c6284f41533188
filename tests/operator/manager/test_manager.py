"""In which order a manager starts and ends what, and how it ends."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable

import pytest

from sampan.client.client import Client
from sampan.client.transport import HttpRequest, HttpResponse
from sampan.operator.controller import CacheSyncTimeout
from sampan.operator.manager import Group, Manager, ManagerOptions, ShutdownTimeout
from sampan.operator.manager.signals import stop_on_signals
from sampan.operator.request import Request
from sampan.testing.time.virtual_time import elapsed, settle, virtual_time
from tests.operator.manager.frame import NoTransport, Part, manager, running
from tests.operator.refs import NETWORKS


@virtual_time
async def test_groups_start_in_order_and_end_in_reverse() -> None:
    made, log = manager(), list[str]()
    for group in reversed(Group):
        made.add(Part(group.name, log), group=group)
    async with running(made):
        await made.elected.wait()
        started = [f"+{group.name}" for group in Group]
        assert log == started
    assert log == started + [f"-{group.name}" for group in reversed(Group)]


@virtual_time
async def test_a_group_starts_when_the_one_before_is_ready() -> None:
    made, log = manager(), list[str]()
    made.add(Part("cache", log, ready_after_s=60), group=Group.CACHES)
    made.add(Part("work", log))
    async with running(made):
        await asyncio.sleep(59)
        assert log == ["+cache"]
        await asyncio.sleep(2)
        assert log == ["+cache", "+work"]


@virtual_time
async def test_a_function_may_be_run_and_goes_to_the_leader() -> None:
    made, ran = manager(), asyncio.Event()

    async def work() -> None:
        ran.set()

    made.add(work)
    async with running(made) as task:
        assert ran.is_set()
        assert not task.done()


@virtual_time
async def test_a_component_added_to_a_running_manager_starts_at_once() -> None:
    made, log = manager(), list[str]()
    async with running(made):
        made.add(Part("late", log))
        await settle()
        assert log == ["+late"]
    with pytest.raises(RuntimeError, match="cannot be added"):
        made.add(Part("too late", log))


@virtual_time
async def test_a_failure_ends_everything_in_order_and_is_raised() -> None:
    made, log = manager(), list[str]()
    made.add(Part("cache", log), group=Group.CACHES)
    made.add(Part("work", log))

    async def fail() -> None:
        await asyncio.sleep(5)
        raise ValueError("broken")

    made.add(fail, group=Group.OTHERS)
    with pytest.raises(ValueError, match="broken"):
        await made.run()
    assert log == ["+cache", "+work", "-work", "-cache"]


@virtual_time
async def test_a_failure_before_a_group_is_ready_does_not_hang() -> None:
    made = manager()

    class Broken:
        async def run(self) -> None:
            raise OSError("address in use")

        async def ready(self) -> None:
            await asyncio.get_running_loop().create_future()

    made.add(Broken(), group=Group.HTTP_SERVERS)
    with pytest.raises(OSError, match="address in use"):
        await made.run()


@virtual_time
async def test_cancellation_ends_everything_in_order() -> None:
    made, log = manager(), list[str]()
    made.add(Part("cache", log), group=Group.CACHES)
    made.add(Part("work", log))
    task = asyncio.create_task(made.run())
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert log == ["+cache", "+work", "-work", "-cache"]


@virtual_time
async def test_reconciles_under_way_may_end_within_the_graceful_time() -> None:
    made, done = manager(ManagerOptions(graceful_shutdown_timeout_s=30)), list[str]()

    async def reconcile(request: Request) -> None:
        await asyncio.sleep(20)
        done.append(request.name)

    controller = made.new_controller("c", reconcile)
    async with running(made):
        controller.queue.add(Request("", "begun"))
        await settle()
        controller.queue.add(Request("", "not begun"))
    assert done == ["begun"]


@virtual_time
async def test_a_reconcile_that_does_not_end_in_time_is_cancelled() -> None:
    made, ended = manager(ManagerOptions(graceful_shutdown_timeout_s=30)), list[str]()

    async def reconcile(request: Request) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            ended.append("cancelled")

    controller = made.new_controller("c", reconcile)
    async with running(made) as task:
        controller.queue.add(Request("", "long"))
        await settle()
        made.stop()
        assert await elapsed(asyncio.wait({task})) == 30
    assert ended == ["cancelled"]


class Draining(Part):
    """Part with its own way to drain."""

    def __init__(self, log: list[str], drain: Callable[[], Awaitable[None]]) -> None:
        super().__init__("part", log)
        self.drain = drain


@virtual_time
async def test_a_drain_that_fails_is_reported_and_ends_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    made, log = manager(), list[str]()

    async def fail() -> None:
        raise OSError("lost")

    async def well() -> None:
        log.append("drained")

    made.add(Draining(log, fail))
    made.add(Draining(log, well))
    with caplog.at_level(logging.ERROR):
        async with running(made):
            pass
    assert log == ["+part", "+part", "drained", "-part", "-part"]
    assert [record.getMessage() for record in caplog.records] == ["cannot drain part"]


@virtual_time
async def test_a_drain_is_not_waited_for_when_its_part_has_ended() -> None:
    made, log = manager(ManagerOptions(graceful_shutdown_timeout_s=100)), list[str]()

    class Short(Draining):
        async def run(self) -> None:
            await asyncio.sleep(5)

    async def never() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            log.append("given up")

    made.add(Short(log, never))
    async with running(made) as task:
        made.stop()
        assert await elapsed(asyncio.wait({task})) == 5
    assert log == ["given up"]


@virtual_time
async def test_a_component_that_ignores_its_cancellation_is_named() -> None:
    made = manager(ManagerOptions(graceful_shutdown_timeout_s=0))
    release = asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    made.add(stubborn)
    task = asyncio.create_task(made.run())
    await settle()
    made.stop()
    await asyncio.sleep(11)
    release.set()
    with pytest.raises(ShutdownTimeout, match="stubborn"):
        await task


@virtual_time
async def test_a_manager_runs_once() -> None:
    made = manager()
    async with running(made):
        with pytest.raises(RuntimeError, match="more than once"):
            await made.run()


async def test_two_controllers_of_one_name_are_refused() -> None:
    made = manager()
    made.new_controller("c", lambda request: None)
    with pytest.raises(ValueError, match="there is a controller called 'c' already"):
        made.new_controller("c", lambda request: None)


@pytest.mark.parametrize("what", [5, Manager], ids=["number", "class"])
async def test_an_invalid_component_is_refused(what: object) -> None:
    with pytest.raises(TypeError, match="neither an asynchronous function nor"):
        manager().add(what)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"graceful_shutdown_timeout_s": -1}, {"probe_address": "8081"}, {"probe_address": "host:http"}]
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ManagerOptions(**wrong)  # type: ignore[arg-type]


async def test_the_first_signal_requests_and_the_second_ends() -> None:
    stopped, exits = asyncio.Event(), list[int]()
    with stop_on_signals(stopped.set, exit_hard=exits.append):
        signal.raise_signal(signal.SIGTERM)
        await stopped.wait()
        assert exits == []
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.01)
    assert exits == [1]


async def test_a_signal_ends_a_manager_that_handles_them() -> None:
    made, log = manager(), list[str]()
    made.add(Part("work", log))
    task = asyncio.create_task(made.run(handle_signals=True))
    await made.elected.wait()
    signal.raise_signal(signal.SIGTERM)
    await task
    assert log == ["+work", "-work"]


@virtual_time
async def test_an_informer_that_cannot_list_ends_the_manager_and_is_named() -> None:
    class Silent(NoTransport):
        async def send(self, request: HttpRequest) -> HttpResponse:
            await asyncio.sleep(1e9)
            raise AssertionError

    made = Manager(Client(Silent()), ManagerOptions(cache_sync_timeout_s=120))
    made.informer_for(NETWORKS)
    with pytest.raises(CacheSyncTimeout, match=r"in 120 s: .*networks\.net\.example\.com \(is the kind served"):
        await made.run()


@pytest.mark.parametrize(("error", "shown"), [(OSError("address in use"), False), (KeyError("boat"), True)])
async def test_only_a_bug_of_a_part_has_a_traceback(
    error: Exception, caplog: pytest.LogCaptureFixture, *, shown: bool
) -> None:
    async def fail() -> None:
        raise error

    made = manager()
    made.add(fail)
    with pytest.raises(type(error)):
        await made.run()
    [record] = [each for each in caplog.records if each.getMessage().startswith("runnable")]
    assert bool(record.exc_info) is shown
