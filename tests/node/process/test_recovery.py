"""Recovery after an agent was killed: nothing runs twice, nothing is left."""

import asyncio
import os
import random
import sys
from pathlib import Path

import pytest

from sampan.node.process import Isolation
from sampan.node.process.proc import kill_family, process_stat
from sampan.node.process.state import StateDirectories, StoredContainer
from tests.node.process.running import Node, node, pod, sh
from tests.node.process.test_containers import isolation, left_in, no_more

__all__ = ["isolation"]

_AGENT = """
import asyncio, sys
from pathlib import Path
from tests.node.process.running import node, pod, sh

async def main():
    async with node(Path(sys.argv[1]), sys.argv[2]) as found:
        await found.start(pod(), *sh(sys.argv[3]))
        await found.run(pod("over"), *sh("echo over; exit 5"))
        await found.wait_for_output(pod(), b"up")
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def killed_agent(root: Path, isolation: Isolation, script: str) -> None:
    """Run an agent, and kill it while one container runs and another has ended."""
    agent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _AGENT, str(root), isolation, script, stdout=asyncio.subprocess.PIPE
    )
    assert agent.stdout is not None
    assert await agent.stdout.readline() == b"ready\n"
    agent.kill()
    await agent.wait()


async def test_containers_of_a_killed_agent_are_ended_and_reported(tmp_path: Path, isolation: Isolation) -> None:
    await killed_agent(tmp_path, isolation, "setsid sleep 52.66 & (sleep 52.66 &); echo up; sleep 52.66")
    after = Node(tmp_path, isolation, {})
    await after.runtime.recover([pod(), pod("over")])
    await no_more(b"52.66")
    record = after.record(pod())
    assert (record.exit_code, record.reason, record.is_running) == (137, "Unknown", False)
    assert (after.record(pod("over")).exit_code, after.record(pod("over")).reason) == (5, "Error")
    assert await after.log(pod("over")) == b"over\n"
    assert await after.log(pod(), follow=True) == b"up\n"


async def test_interrupted_start_is_not_repeated(tmp_path: Path) -> None:
    await killed_agent(tmp_path, "none", "echo up; sleep 53.77")
    async with node(tmp_path) as after:
        await after.runtime.recover([pod()])
        await after.start(pod(), "true", run=0)
        assert after.record(pod()).exit_code == 137
        await after.run(pod(), *sh("echo again"), run=1)
        record = after.record(pod())
        assert (record.exit_code, record.restart_count, record.previous and record.previous.exit_code) == (0, 1, 137)
        assert await after.log(pod(), previous=True) == b"up\n"


async def test_pods_that_are_gone_leave_nothing(tmp_path: Path, isolation: Isolation) -> None:
    await killed_agent(tmp_path, isolation, "setsid sleep 54.88 & touch file; echo up; sleep 54.88")
    await Node(tmp_path, isolation, {}).runtime.recover([])
    await no_more(b"54.88")
    assert left_in(tmp_path) == []


async def test_unreadable_records_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with node(tmp_path) as found:
        await found.run(pod(), "true")
    (tmp_path / "pods" / "uid-of-web" / "containers" / "main" / "record.json").write_bytes(b'{"record":')
    after = Node(tmp_path, "none", {})
    await after.runtime.recover([pod()])
    assert after.runtime.containers("uid-of-web") == {}
    assert "cannot read" in caplog.text


async def test_other_process_with_the_same_pid_is_not_killed() -> None:
    innocent = await asyncio.create_subprocess_exec("sleep", "60")
    try:
        stat = process_stat(innocent.pid)
        assert stat is not None
        kill_family(innocent.pid, stat.start_ticks - 1)
        assert innocent.returncode is None
        os.kill(innocent.pid, 0)
    finally:
        innocent.kill()
        await innocent.wait()


async def test_record_is_on_disk_before_the_program_runs(tmp_path: Path) -> None:
    record = tmp_path / "pods" / "uid-of-web" / "containers" / "main" / "record.json"
    async with node(tmp_path) as found:
        code, log = await found.run(pod(), *sh(f"cat {record}"))
    assert code == 0
    assert b'"pid":' in log
    assert next(iter(StateDirectories(tmp_path).containers("uid-of-web"))) == StoredContainer(found.record(pod()))


@pytest.mark.parametrize("seed", range(3))
async def test_random_ends_leave_nothing(tmp_path: Path, isolation: Isolation, seed: int) -> None:
    chance = random.Random(seed)
    scripts = [
        "trap '' TERM; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do sleep 55.99 & done; wait",
        "setsid sleep 55.99 & exec sleep 55.99",
        "yes",
        "exec >&- 2>&-; sleep 55.99",
        "head -c 300000 /dev/urandom; exit 3",
    ]

    async def live(found: Node, number: int) -> None:
        own = pod(f"web-{number}")
        for run in range(2):
            start = asyncio.create_task(found.start(own, *sh(chance.choice(scripts)), run=run))
            if chance.random() < 0.3:
                await asyncio.sleep(chance.random() * 0.03)
                start.cancel()
            await asyncio.gather(start, return_exceptions=True)
            await found.runtime.stop_containers(own, ["main"], chance.choice([0, 0.01, 0.05]))
        await found.runtime.remove_sandbox(own.metadata.uid)

    async with node(tmp_path, isolation) as found:
        await asyncio.gather(*(live(found, number) for number in range(6)))
        assert left_in(tmp_path) == []
        await no_more(b"55.99")


async def test_container_with_much_output_does_not_block_another_one(tmp_path: Path) -> None:
    async with node(tmp_path) as found:
        await found.start(pod("chatty"), "yes", "a line of sixty characters, more or less, as they come along")
        for number in range(3):
            code, _ = await found.run(pod(f"web-{number}"), "true")
            assert code == 0
        await found.runtime.remove_sandbox(pod("chatty").metadata.uid)
