"""How containers are ended, in virtual time."""

import asyncio
from typing import Any

from sampan.node.tasks import Tasks
from sampan.node.terminations import Terminations
from sampan.node.views import Pod
from sampan.testing.virtual_time import virtual_time
from tests.node.scripted import CommandSession, Said, ScriptedRuntime, detailed, place_of, tasks_running

HOOK = {"lifecycle": {"preStop": {"exec": {"command": ["bye"]}}}}


class Ending:
    """A Pod whose containers run, and what ends them."""

    def __init__(self, tasks: Tasks, pod: Pod) -> None:
        self.pod, self.said, self.runtime = pod, Said(), ScriptedRuntime()
        self.terminations = Terminations(tasks, self.said)  # type: ignore[arg-type]  # it says, and that is all
        self.runtime.changed = lambda key: self.terminations.look("uid-1", self.runtime.containers("uid-1"))
        for each in (*pod.spec.init_containers, *pod.spec.containers):
            self.runtime.run(pod, each.name)

    def begin(self, grace_s: float, **more: Any) -> None:
        names = list(self.runtime.containers("uid-1"))
        self.terminations.begin(self.runtime, place_of(self.pod), names, grace_s=grace_s, **more)


@virtual_time
async def test_a_container_is_stopped_with_all_of_its_grace() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed({}))
        ending.begin(30)
        await asyncio.sleep(1)
        assert ending.runtime.stops == [(0.0, "main", 30.0)]
        assert ending.said.said == [("Normal", "Killing", "Stopping container main", "main")]


@virtual_time
async def test_the_pre_stop_hook_runs_first_and_takes_of_the_grace() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed(HOOK))
        ending.runtime.command = lambda name, command: CommandSession(0, 12, b"")
        ending.begin(30)
        await asyncio.sleep(60)
        assert ending.runtime.commands == [(0.0, "bye")]
        assert ending.runtime.stops == [(12.0, "main", 18.0)]


@virtual_time
async def test_a_hook_that_takes_too_long_is_given_up_and_two_seconds_are_left() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed(HOOK))
        ending.runtime.command = lambda name, command: CommandSession(0, 1000, b"")
        ending.begin(5)
        await asyncio.sleep(60)
        assert ending.runtime.stops == [(5.0, "main", 2.0)]


@virtual_time
async def test_a_hook_that_fails_is_told_and_changes_nothing_else() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed(HOOK))
        ending.runtime.command = lambda name, command: CommandSession(3, 1, b"secret")
        ending.begin(30)
        await asyncio.sleep(60)
        assert ("Warning", "FailedPreStopHook", "PreStopHook failed", "main") in ending.said.said
        assert ending.runtime.stops == [(1.0, "main", 29.0)]


@virtual_time
async def test_sidecars_end_after_the_others_the_last_first() -> None:
    sidecars = [{"name": name, "image": "s", "restartPolicy": "Always"} for name in ("first", "second")]
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed({}, initContainers=sidecars))
        ending.runtime.stop_after_s = {"main": 3, "second": 4}
        ending.begin(30)
        await asyncio.sleep(60)
        assert ending.runtime.stops == [(0.0, "main", 30.0), (3.0, "second", 27.0), (7.0, "first", 23.0)]


@virtual_time
async def test_a_shorter_grace_is_taken_up_and_a_longer_one_is_not() -> None:
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
        assert ending.said.reasons() == ["Killing"]


@virtual_time
async def test_a_container_that_ends_by_itself_during_its_hook_is_not_stopped() -> None:
    async with tasks_running() as tasks:
        ending = Ending(tasks, detailed(HOOK))
        ending.runtime.command = lambda name, command: CommandSession(0, 20, b"")
        ending.begin(30)
        await asyncio.sleep(5)
        ending.runtime.end(ending.pod, "main", 0)
        await asyncio.sleep(60)
        assert ending.runtime.stops == []
