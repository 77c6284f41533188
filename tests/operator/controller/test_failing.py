"""The list of objects that fail: errors, tries, next attempts, and its end."""

import asyncio
import json
from collections.abc import Iterable

from sampan.core.clock import utc_now
from sampan.operator.controller import Controller, FailingObject
from sampan.operator.controller.failing import as_json
from sampan.operator.manager import ManagerOptions
from sampan.operator.request import Request, RetryLater, TerminalError
from sampan.operator.source import ChannelSource
from sampan.testing.time.virtual_time import settle, virtual_time
from tests.operator.controller.frame import A, B, at_work
from tests.operator.manager.frame import manager, running


class Moody:
    """Reconciler that raises the errors of each object in turn."""

    def __init__(self, **errors: list[Exception]) -> None:
        self.errors = errors

    async def reconcile(self, request: Request) -> None:
        if self.errors.get(request.name):
            raise self.errors[request.name].pop(0)


@virtual_time
async def test_an_object_that_keeps_failing_is_listed_with_its_error_and_next_attempt() -> None:
    waiting: list[Exception] = [
        RetryLater("no crew", after_s=60),
        RetryLater("no fuel", after_s=60),
        RetryLater("no fuel", after_s=60),
    ]
    begin = utc_now()
    async with at_work(Moody(a=waiting, b=[TerminalError("sunk")])) as bench:
        bench.add(A, B)
        await asyncio.sleep(130)
        [a, b] = sorted(bench.controller.failing(), key=lambda each: each.key)
        assert (a.key, a.error, a.tries, a.source) == ("default/a", "RetryLater: no fuel", 3, "")
        assert a.next_due is not None
        assert [round((at - begin).total_seconds()) for at in (a.since, a.last, a.next_due)] == [0, 120, 180]
        assert (b.error, b.tries, b.next_due) == ("TerminalError: sunk", 1, None)
        name = "sampan_controller_failing_objects"
        assert bench.registry.get_sample_value(name, {"controller": "c"}) == 2
        await asyncio.sleep(60)
        bench.add(B)
        await settle()
        assert bench.controller.failing() == []
        assert bench.registry.get_sample_value(name, {"controller": "c"}) == 0


@virtual_time
async def test_an_event_that_cannot_be_mapped_is_listed_until_it_is() -> None:
    attempts: list[str] = []

    def mapped(event: str) -> Iterable[Request]:
        attempts.append(event)
        if len(attempts) < 20:
            raise LookupError("no crew")
        return ()

    source: ChannelSource[str] = ChannelSource(mapped)
    controller = Controller("boats", Moody())
    controller.watch(source)
    task = asyncio.create_task(controller.run())
    await source.put("ada")
    await asyncio.sleep(1)
    [failing] = controller.failing()
    assert (failing.source, failing.key, failing.error) == ("channel source", "0", "LookupError: no crew")
    await asyncio.sleep(10_000)
    assert controller.failing() == []
    task.cancel()
    await asyncio.wait({task})


@virtual_time
async def test_a_manager_lists_the_most_frequent_failures_of_all_controllers_first() -> None:
    made = manager(ManagerOptions())
    errors: list[Exception] = [RetryLater("again", after_s=10) for _ in range(9)]
    for name in ("boats", "crews"):
        made.new_controller(name, Moody(a=errors.copy() if name == "crews" else errors[:1]))
    async with running(made):
        for controller in made._controllers.values():
            controller.queue.add(A)
        await settle()
        assert {each.controller for each in made.failing()} == {"boats", "crews"}
        await asyncio.sleep(55)
        made._controllers["boats"].queue.add(B)
        assert [(each.controller, each.tries) for each in made.failing(tries_min=2)] == [("crews", 6)]


def test_the_list_is_written_as_json() -> None:
    now = utc_now()
    found = json.loads(as_json([FailingObject("boats", "default/a", "", "OSError: no crew", 3, now, now, None)]))
    assert found["failing"][0]["object"] == "default/a"
    assert found["failing"][0]["nextDue"] is None
    assert "source" not in found["failing"][0]
