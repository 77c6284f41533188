"""Run other programs."""

import asyncio
import gc
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sampan.core.operating_system.child_process import ChildProcess, capture_output

WAIT_S = 60.0


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def test_all_waiters_get_the_exit_code() -> None:
    process = ChildProcess(python("raise SystemExit(3)"))
    async with asyncio.timeout(WAIT_S):
        assert set(await asyncio.gather(process.wait(), process.wait())) == {3}
    assert process.has_exited
    process.channel.close()


async def test_program_runs_until_its_stdin_is_closed() -> None:
    process = ChildProcess(python("import sys; sys.stdin.read()"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await process.wait()
    assert not process.has_exited
    process.channel.close()
    async with asyncio.timeout(WAIT_S):
        assert await process.wait() == 0


async def test_program_can_be_killed_twice() -> None:
    process = ChildProcess(python("import time; time.sleep(60)"))
    process.kill()
    async with asyncio.timeout(WAIT_S):
        assert await process.wait() == -signal.SIGKILL
    process.kill()
    process.channel.close()


async def test_missing_program_raises_at_once() -> None:
    with pytest.raises(FileNotFoundError):
        ChildProcess(["/no/such/program"])
    gc.collect()


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


async def run(code: str, bytes_max: int = 100) -> tuple[int, bytes]:
    async with asyncio.timeout(WAIT_S):
        return await capture_output(python(code), env={"A": "b"}, stdin=subprocess.DEVNULL, bytes_max=bytes_max)


async def test_output_is_returned_with_the_exit_code() -> None:
    assert await run("import os; print(os.environ['A']); raise SystemExit(3)") == (3, b"b\n")


async def test_output_above_the_limit_is_not_read() -> None:
    code, text = await run("while True: print('x')", bytes_max=5)
    assert (code != 0, text) == (True, b"x\nx\nx")


async def test_cancelling_the_call_kills_the_program(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    code = f"import os, time, pathlib; pathlib.Path({str(file)!r}).write_text(str(os.getpid())); time.sleep(60)"
    task = asyncio.create_task(run(code))
    async with asyncio.timeout(WAIT_S):
        while not (file.exists() and file.read_text()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while is_there(int(file.read_text())):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
