"""Shutdown of containers, in virtual time."""

import asyncio
from typing import Any

from sampan.node.containers.terminations import Terminations
from sampan.node.tasks import Tasks
from sampan.node.views.pod import Pod
from sampan.testing.time.virtual_time import virtual_time
from tests.node.scripted import CommandSession, RecordedEvents, ScriptedRuntime, detailed, place_of, tasks_running

HOOK = {"lifecycle": {"preStop": {"exec": {"command": ["bye"]}}}}


class Ending:
    """Pod with running containers, and the shutdowns of them."""

    def __init__(self, tasks: Tasks, pod: Pod) -> None:
        self.pod, self.events, self.runtime = pod, RecordedEvents(), ScriptedRuntime()
        self.terminations = Terminations(tasks, self.events)  # type: ignore[arg-type]  # a fake
        self.runtime.changed = lambda key: self.terminations.observe("uid-1", self.runtime.containers("uid-1"))
        for each in (*pod.spec.init_containers, *pod.spec.containers):
            self.runtime.run(pod, each.name)

    def begin(self, grace_s: float, **more: Any) -> None:
        names = list(self.runtime.containers("uid-1"))
        self.terminations.begin(self.runtime, place_of(self.pod), names, grace_s=grace_s, **more)


@virtual_time
async def test_container_gets_its_whole_grace_period() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed({}))
        ending.begin(30)
        await asyncio.sleep(1)
        assert ending.runtime.stops == [(0.0, "main", 30.0)]
        assert ending.events.recorded == [("Normal", "Killing", "Stopping container main", "main")]


@virtual_time
async def test_pre_stop_hook_runs_first_and_uses_up_grace_period() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed(HOOK))
        ending.runtime.command = lambda name, command: CommandSession(0, 12, b"")
        ending.begin(30)
        await asyncio.sleep(60)
        assert ending.runtime.commands == [(0.0, "bye")]
        assert ending.runtime.stops == [(12.0, "main", 18.0)]


@virtual_time
async def test_slow_hook_is_cancelled_and_leaves_two_seconds() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed(HOOK))
        ending.runtime.command = lambda name, command: CommandSession(0, 1000, b"")
        ending.begin(5)
        await asyncio.sleep(60)
        assert ending.runtime.stops == [(5.0, "main", 2.0)]


@virtual_time
async def test_failed_hook_is_reported_and_the_container_stops() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed(HOOK))
        ending.runtime.command = lambda name, command: CommandSession(3, 1, b"secret")
        ending.begin(30)
        await asyncio.sleep(60)
        assert ("Warning", "FailedPreStopHook", "PreStopHook failed", "main") in ending.events.recorded
        assert ending.runtime.stops == [(1.0, "main", 29.0)]


@virtual_time
async def test_sidecars_end_last_in_reverse_order() -> None:
    sidecars = [{"name": name, "image": "s", "restartPolicy": "Always"} for name in ("first", "second")]
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed({}, initContainers=sidecars))
        ending.runtime.stop_after_s = {"main": 3, "second": 4}
        ending.begin(30)
        await asyncio.sleep(60)
        assert ending.runtime.stops == [(0.0, "main", 30.0), (3.0, "second", 27.0), (7.0, "first", 23.0)]


@virtual_time
async def test_grace_period_can_only_be_shortened() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed({}))
        ending.runtime.stop_after_s = {"main": 1000}
        ending.begin(100)
        await asyncio.sleep(10)
        ending.begin(200)
        await asyncio.sleep(10)
        ending.begin(5)
        await asyncio.sleep(10)
        assert ending.runtime.stops == [(0.0, "main", 100.0), (20.0, "main", 5.0)]
        assert ending.events.reasons() == ["Killing"]


@virtual_time
async def test_container_that_ends_during_its_hook_is_not_stopped() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed(HOOK))
        ending.runtime.command = lambda name, command: CommandSession(0, 20, b"")
        ending.begin(30)
        await asyncio.sleep(5)
        ending.runtime.end(ending.pod, "main", 0)
        await asyncio.sleep(60)
        assert ending.runtime.stops == []
