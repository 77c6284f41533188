"""`Offload`: run long computations of large requests in threads, so that the event loop keeps serving other clients.

CPython runs one thread at a time but switches every `sys.getswitchinterval()` seconds. So the event loop waits only for
that interval, not for the end of the computation. Small requests compute on the loop, because a thread would cost
more time than it saves.

Concurrency: `offloaded` is called on the loop. Functions that run in a thread must not access data that the loop may
change at the same time. They may use the request's own objects, because the caller only waits for the result. When the
caller is cancelled, the computation is interrupted.
"""

import asyncio
import contextvars
import ctypes
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")

LARGE_BYTES = 32 * 1024
"""Size above which threads compute, not the loop. Most requests are smaller; computing 32 KiB takes up to 30 ms."""
HUGE_BYTES = 512 * 1024
"""Size above which requests have separate threads: a few of them (10 s each) must not delay smaller requests."""
THREADS_MAX = 2
"""Number of threads for large requests. Huge requests have the same number of separate threads."""
INLINE_STEPS_MAX = 10_000
"""Limit of counted steps of a small request on the loop: about 20 ms of CEL."""
_INTERRUPT_AGAIN_S = 0.1
"""Time after which a computation that still runs is interrupted again."""


class Interrupted(BaseException):
    """Ends a computation whose request was cancelled. Not an `Exception`, so that no handler in between catches it."""


class TakeThread(BaseException):
    """Raised by a computation of a small request that takes too long; `offloaded` then runs it in a thread instead."""


class Offload:
    """Threads of one server. They start on first use and end with this object."""

    def __init__(self, threads_max: int = THREADS_MAX) -> None:
        self._threads_max = threads_max
        self._executors: dict[bool, ThreadPoolExecutor] = {}

    async def run(self, size_bytes: int, function: Callable[..., T], *args: object) -> T:
        """Return the result of `function`, computed in a thread for requests of this size. Raises its errors."""
        is_huge = size_bytes >= HUGE_BYTES
        executor = self._executors.get(is_huge)
        if executor is None:
            executor = ThreadPoolExecutor(self._threads_max, "offload-huge" if is_huge else "offload")
            self._executors[is_huge] = executor
        context = contextvars.copy_context()
        context.run(_current.set, RequestWork(self, size_bytes))  # not the loop's, whose `steps_left` may change
        job = _Job(context, function, args)
        try:
            return await asyncio.get_running_loop().run_in_executor(executor, job.run)
        except asyncio.CancelledError:
            _interrupt(job)
            raise


def _interrupt(job: "_Job[Any]") -> None:
    """Interrupt a computation again until it has ended.

    Python drops an exception that arrives in a finalizer, or in a callback of a weak reference or the collector.
    """
    if job.interrupt():
        asyncio.get_running_loop().call_later(_INTERRUPT_AGAIN_S, _interrupt, job)


class RequestWork(msgspec.Struct, eq=False):
    """Known size of a request: its body and the stored objects that it processes."""

    offload: Offload
    size_bytes: int = 0
    steps_left: int | None = None
    """Steps that the current computation may still run on the loop; None for no limit, as in a thread."""


_current: contextvars.ContextVar[RequestWork | None] = contextvars.ContextVar("request work", default=None)


def begin_work(offload: Offload) -> None:
    """Allow `offloaded` to use these threads in the current task; called at the start of each request."""
    _current.set(RequestWork(offload))


def note_size(size_bytes: int) -> None:
    """Add the size of data that the request processes."""
    work = _current.get()
    if work is not None:
        work.size_bytes += size_bytes


def is_large() -> bool:
    """Report whether the computations of the current request run in threads."""
    work = _current.get()
    return work is not None and work.size_bytes >= LARGE_BYTES


def steps_left() -> int | None:
    """Return how many steps a computation may still run before it must raise `TakeThread`; None for no limit."""
    work = _current.get()
    return None if work is None else work.steps_left


def count_steps(steps: int) -> None:
    """Count steps of a computation."""
    work = _current.get()
    if work is not None and work.steps_left is not None:
        work.steps_left -= steps


def current_work() -> RequestWork | None:
    """Return the work of the current task, with its size; None if it must not use threads."""
    return _current.get()


def charge(steps: int) -> None:
    """Count steps of a computation that cannot stop once it has begun.

    **Raises** `TakeThread` if they are more than the computation may run on the loop.
    """
    work = _current.get()
    if work is not None and work.steps_left is not None:
        if steps > work.steps_left:
            raise TakeThread
        work.steps_left -= steps


async def offloaded(function: Callable[..., T], *args: object) -> T:
    """Return `function(*args)`, computed in a thread if the request is large.

    A function that counts its steps may raise `TakeThread` before it has changed anything.
    """
    work = _current.get()
    if work is None:
        return function(*args)
    if work.size_bytes < LARGE_BYTES:
        work.steps_left = INLINE_STEPS_MAX
        try:
            return function(*args)
        except TakeThread:
            pass
        finally:
            work.steps_left = None
    return await work.offload.run(work.size_bytes, function, *args)


def compute(function: Callable[..., None], *args: object) -> Awaitable[None] | None:
    """Do the same as `offloaded`, without a coroutine for small requests.

    For these, `function` has run when this returns None. For large requests, return an awaitable that runs it.
    """
    work = _current.get()
    if work is None:
        function(*args)
        return None
    if work.size_bytes < LARGE_BYTES:
        work.steps_left = INLINE_STEPS_MAX
        try:
            function(*args)
            return None
        except TakeThread:
            pass
        finally:
            work.steps_left = None
    return work.offload.run(work.size_bytes, function, *args)


async def in_thread(function: Callable[..., T], *args: object) -> T:
    """Return `function(*args)`, computed in a thread for requests of any size, if the server has threads."""
    work = _current.get()
    return function(*args) if work is None else await work.offload.run(work.size_bytes, function, *args)


class _Job(Generic[T]):
    """Computation that can be interrupted from another thread while it runs, but not afterwards."""

    __slots__ = ("_args", "_context", "_function", "_is_cancelled", "_lock", "_thread")

    def __init__(self, context: contextvars.Context, function: Callable[..., T], args: tuple[object, ...]) -> None:
        self._context, self._function, self._args = context, function, args
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._is_cancelled = False

    def run(self) -> T:
        """Compute. Raises what the function raises, and `Interrupted`."""
        try:
            with self._lock:
                if self._is_cancelled:
                    raise Interrupted
                self._thread = threading.get_ident()
            return self._context.run(self._function, *self._args)
        finally:
            # An interruption is sent while the lock is held, so none can be sent after this. One that was already sent
            # arrives here at the latest, not in the thread's next job.
            has_ended = False
            while not has_ended:
                try:
                    with self._lock:
                        self._thread = None
                    has_ended = True
                except Interrupted:
                    pass

    def interrupt(self) -> bool:
        """Raise `Interrupted` in the computation. Return False if it has ended, or will not begin."""
        with self._lock:
            if self._thread is None:
                self._is_cancelled = True  # it has not begun, or has ended
                return False
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(Interrupted))
            return True
