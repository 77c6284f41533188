"""An event loop in a separate thread."""

import asyncio
import os
import signal
import threading
from collections.abc import AsyncGenerator, Iterator, Sequence

import pytest

from sampan.client import ClientError
from sampan.client.blocking.loop_thread import LoopThread


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Ctrl-C interrupts, even if the parent of the test process made it ignore that (a shell's background job)."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupted_call_is_cancelled_and_has_ended_when_the_caller_goes_on() -> None:
    ended = threading.Event()

    async def hang() -> None:
        # The signal reaches the main thread, which waits for this coroutine.
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    with LoopThread() as thread:
        with pytest.raises(KeyboardInterrupt):
            thread.run(hang())
        assert ended.is_set()


def test_an_interrupted_iterator_is_closed() -> None:
    closed = threading.Event()

    async def batches() -> AsyncGenerator[Sequence[int], None]:
        try:
            yield [1, 2]
            asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            closed.set()

    found: list[int] = []
    with LoopThread() as thread:
        with pytest.raises(KeyboardInterrupt):
            found.extend(thread.iterate(batches()))
        assert closed.is_set()


def test_calls_of_several_threads_run_side_by_side() -> None:
    with LoopThread() as thread:
        barrier: list[asyncio.Event] = [thread.run(make_event())]

        async def wait() -> str:
            await barrier[0].wait()
            return "woken"

        async def wake() -> None:
            barrier[0].set()

        results: list[str] = []
        waiter = threading.Thread(target=lambda: results.append(thread.run(wait())))
        waiter.start()
        thread.run(wake())
        waiter.join()
        assert results == ["woken"]


def test_a_call_that_runs_at_the_end_of_the_thread_gets_an_error() -> None:
    errors: list[BaseException] = []
    begun = threading.Event()

    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    def call(thread: LoopThread) -> None:
        try:
            thread.run(hang())
        except ClientError as error:
            errors.append(error)

    with LoopThread() as thread:
        caller = threading.Thread(target=call, args=(thread,))
        caller.start()
        begun.wait()
    caller.join()
    assert len(errors) == 1


def test_it_cannot_wait_for_itself() -> None:
    with LoopThread() as thread:

        async def inner() -> None:
            thread.run(make_event())

        with pytest.raises(ClientError, match="own thread"):
            thread.run(inner())


async def make_event() -> asyncio.Event:
    return asyncio.Event()
