"""Schedule and results of probes, in virtual time."""

import asyncio
from typing import Any

from sampan.node.probes.prober import Prober
from sampan.node.tasks import Tasks
from sampan.testing.time.virtual_time import virtual_time
from tests.node.scripted import CommandSession, RecordedEvents, ScriptedRuntime, detailed, place_of, tasks_running


def probe(word: str, **fields: Any) -> dict[str, Any]:
    return {"exec": {"command": [word]}, "periodSeconds": 10, **fields}


class Probing:
    """Pod with probes, whose container runs. `codes` are the exit codes of the probes' commands."""

    def __init__(self, tasks: Tasks, container: dict[str, Any], **codes: int) -> None:
        self.codes, self.events, self.runtime, self.changes = codes, RecordedEvents(), ScriptedRuntime(), 0
        self.pod = detailed(container)
        self.runtime.command = lambda name, command: CommandSession(self.codes[command[0]], 0, b"why")
        self.prober = Prober(tasks, self.events, self.changed)  # type: ignore[arg-type]  # a fake
        self.runtime.run(self.pod, "main")
        self.look()

    def changed(self, key: str) -> None:
        self.changes += 1

    def look(self) -> None:
        self.prober.observe(self.runtime, place_of(self.pod), dict(self.runtime.containers("uid-1")))

    def state(self) -> tuple[bool, bool]:
        """Return whether the container is started, and whether it is ready."""
        record = self.prober.applied("uid-1", dict(self.runtime.containers("uid-1")))["main"]
        return record.started, record.ready

    def times(self, word: str) -> list[float]:
        return [at for at, command in self.runtime.commands if command == word]


@virtual_time
async def test_container_without_probes_is_ready() -> None:
    async with tasks_running() as tasks:
        assert Probing(tasks, {}).state() == (True, True)


@virtual_time
async def test_readiness_changes_at_the_thresholds() -> None:
    async with tasks_running() as tasks:
        desired = probe("ready", initialDelaySeconds=5, successThreshold=2, failureThreshold=2)
        probing = Probing(tasks, {"readinessProbe": desired}, ready=0)
        assert probing.state() == (True, False)
        await asyncio.sleep(14.9)
        assert probing.state() == (True, False)
        await asyncio.sleep(0.2)
        assert (probing.state(), probing.times("ready")) == ((True, True), [5.0, 15.0])
        probing.codes["ready"] = 1
        await asyncio.sleep(10)
        assert probing.state() == (True, True)
        await asyncio.sleep(10)
        assert (probing.state(), probing.changes) == ((True, False), 2)
        assert ("Warning", "Unhealthy", "Readiness probe failed: why", "main") in probing.events.recorded


@virtual_time
async def test_other_probes_wait_for_the_startup_probe() -> None:
    async with tasks_running() as tasks:
        container = {
            "startupProbe": probe("up", periodSeconds=1, failureThreshold=30),
            "readinessProbe": probe("ready"),
            "livenessProbe": probe("alive"),
        }
        probing = Probing(tasks, container, up=1, ready=0, alive=0)
        await asyncio.sleep(4.5)
        assert (probing.state(), probing.times("ready")) == ((False, False), [])
        probing.codes["up"] = 0
        await asyncio.sleep(10)
        assert probing.state() == (True, True)
        assert (probing.times("up")[-1], probing.times("ready"), probing.times("alive")) == (5.0, [5.0], [5.0])


@virtual_time
async def test_failed_liveness_probe_is_reported_once_and_ends() -> None:
    async with tasks_running() as tasks:
        probing = Probing(tasks, {"livenessProbe": probe("alive", failureThreshold=3)}, alive=1)
        await asyncio.sleep(19)
        assert probing.prober.failed("uid-1", "main") is None
        await asyncio.sleep(60)
        assert probing.prober.failed("uid-1", "main") == "Liveness"
        assert (len(probing.times("alive")), probing.changes) == (3, 1)
        probing.runtime.run(probing.pod, "main", 1)
        probing.codes["alive"] = 0
        probing.look()
        await asyncio.sleep(1)
        assert probing.prober.failed("uid-1", "main") is None


@virtual_time
async def test_failed_startup_probe_ends_the_container() -> None:
    async with tasks_running() as tasks:
        probing = Probing(tasks, {"startupProbe": probe("up", periodSeconds=1, failureThreshold=3)}, up=1)
        await asyncio.sleep(5)
        assert probing.prober.failed("uid-1", "main") == "Startup"
        assert probing.state() == (False, False)


@virtual_time
async def test_slow_command_fails() -> None:
    async with tasks_running() as tasks:
        probing = Probing(tasks, {"livenessProbe": probe("alive", failureThreshold=1, timeoutSeconds=2)}, alive=0)
        probing.runtime.command = lambda name, command: CommandSession(0, 100, b"")
        await asyncio.sleep(3)
        assert probing.prober.failed("uid-1", "main") == "Liveness"
        note = 'Liveness probe failed: command timed out: "alive" timed out after 2s'
        assert probing.events.recorded == [("Warning", "Unhealthy", note, "main")]


@virtual_time
async def test_only_readiness_is_probed_during_the_shutdown_of_a_pod() -> None:
    async with tasks_running() as tasks:
        container = {"livenessProbe": probe("alive"), "readinessProbe": probe("ready")}
        probing = Probing(tasks, container, alive=0, ready=0)
        await asyncio.sleep(1)
        probing.prober.pod_ends("uid-1")
        await asyncio.sleep(30)
        assert (len(probing.times("alive")), len(probing.times("ready"))) == (1, 4)
        probing.prober.forget("uid-1")
        await asyncio.sleep(30)
        assert len(probing.times("ready")) == 4
