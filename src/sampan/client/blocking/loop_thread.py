"""`LoopThread`: an event loop in a background thread, for programs without one.

Concurrency: the thread runs one TaskGroup with a task for each call in progress. Calling threads wait for their own
tasks. A caller that is interrupted (Ctrl-C) cancels its task and waits until it has ended. At the end of the block all
tasks are cancelled and the thread is joined. It is a daemon thread, so a program that never leaves the block can still
exit.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Coroutine, Generator, Sequence
from concurrent.futures import Future
from typing import Any, Final, Generic, Self, TypeVar, cast

from sampan.client.errors import ClientError

R = TypeVar("R")

CANCEL_TIMEOUT_S: Final = 5.0
"""Time that an interrupted caller waits for its task to end. A second interrupt ends the wait."""


class LoopThread:
    """Runs coroutines for other threads inside its `with` block."""

    def __init__(self, name: str = "sampan-client") -> None:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name=name, daemon=True)
        self._started: Future[_Running] = Future()
        self._lock = threading.Lock()
        self._calls: set[_Call[Any]] | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._running = self._started.result()
        self._calls = set()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            # Under the lock: a call that another thread adds after this point would never end.
            calls, self._calls = self._calls or set(), None
        self._running.loop.call_soon_threadsafe(self._running.stop.set)
        self._thread.join()
        # The loop may have stopped before `_begin` ran for a call. Its caller would wait forever without this.
        for call in calls:
            call.end()

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine and return its result. Raises `ClientError` outside the block, or if the block ends
        meanwhile.
        """
        call = _Call(coroutine)
        with self._lock:
            # A call from the thread of the loop would wait for itself.
            usable = self._calls is not None and threading.current_thread() is not self._thread
            if usable:
                cast("set[_Call[Any]]", self._calls).add(call)
                self._running.loop.call_soon_threadsafe(self._begin, call)
        if not usable:
            coroutine.close()
            raise ClientError("the client is closed, or was called from its own thread")
        try:
            return call.future.result()
        except asyncio.CancelledError:
            raise ClientError("the client is closed") from None
        # KeyboardInterrupt in the calling thread: the task must end before the caller leaves its own `with` blocks.
        except BaseException:
            if not call.future.done():
                self._running.loop.call_soon_threadsafe(call.cancel)
                call.ended.wait(CANCEL_TIMEOUT_S)
            raise

    def iterate(self, batches: AsyncGenerator[Sequence[R], None]) -> Generator[R, None, None]:
        """Yield the elements of batches that the thread produces. Each batch costs one switch between threads."""
        try:
            while (batch := self.run(_next(batches))) is not None:
                yield from batch
        finally:
            # After the end of the block, nothing is left to close.
            if self._calls is not None:
                self.run(_close(batches))

    async def _main(self) -> None:
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            self._started.set_result(_Running(asyncio.get_running_loop(), group, stop))
            await stop.wait()
            # The task group waits for its tasks, so they are cancelled before it ends.
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

    def _begin(self, call: "_Call[Any]") -> None:
        if not self._running.stop.is_set():
            call.task = self._running.group.create_task(call.run())
            call.task.add_done_callback(lambda _: self._forget(call))

    def _forget(self, call: "_Call[Any]") -> None:
        call.end()
        with self._lock:
            if self._calls is not None:
                self._calls.discard(call)


async def _next(batches: AsyncGenerator[Sequence[R], None]) -> Sequence[R] | None:
    return await anext(batches, None)


async def _close(batches: AsyncGenerator[Any, None]) -> None:
    await batches.aclose()


class _Running:
    def __init__(self, loop: asyncio.AbstractEventLoop, group: asyncio.TaskGroup, stop: asyncio.Event) -> None:
        self.loop = loop
        self.group = group
        self.stop = stop


class _Call(Generic[R]):
    """Coroutine that another thread has submitted, with its task and result."""

    def __init__(self, coroutine: Coroutine[Any, Any, R]) -> None:
        self.coroutine = coroutine
        self.future: Future[R] = Future()
        self.ended = threading.Event()
        self.task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        try:
            self.future.set_result(await self.coroutine)
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self.future.set_exception(error)

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()

    def end(self) -> None:
        """Release the waiting caller: the task has ended or was never created."""
        if self.task is None:
            # A coroutine that never ran warns about it when it is collected, unless it is closed.
            self.coroutine.close()
        if not self.future.done():
            self.future.set_exception(asyncio.CancelledError())
        self.ended.set()
