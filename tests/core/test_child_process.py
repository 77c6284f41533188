"""A program that runs beside this one."""

import asyncio
import gc
import signal
import sys

import pytest

from sampan.core.child_process import ChildProcess

WAIT_S = 60.0


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


async def test_its_exit_code_is_told_to_all_who_wait() -> None:
    process = ChildProcess(python("raise SystemExit(3)"))
    async with asyncio.timeout(WAIT_S):
        assert set(await asyncio.gather(process.wait(), process.wait())) == {3}
    assert process.is_over
    process.input.close()


async def test_it_lives_until_its_input_ends() -> None:
    process = ChildProcess(python("import sys; sys.stdin.read()"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await process.wait()
    assert not process.is_over
    process.input.close()
    async with asyncio.timeout(WAIT_S):
        assert await process.wait() == 0


async def test_it_can_be_killed_and_killed_again() -> None:
    process = ChildProcess(python("import time; time.sleep(60)"))
    process.kill()
    async with asyncio.timeout(WAIT_S):
        assert await process.wait() == -signal.SIGKILL
    process.kill()
    process.input.close()


async def test_a_program_that_is_not_there_is_said_at_once() -> None:
    with pytest.raises(FileNotFoundError):
        ChildProcess(["/no/such/program"])
    gc.collect()
