"""`Offload`: long computations of large requests run in threads, so that the event loop keeps serving other clients.

CPython runs one thread at a time, but hands over every `sys.getswitchinterval()` seconds: the loop waits for that long
and not for the end of the computation. A small request computes on the loop, since a thread costs it more than it
saves.

Concurrency: `offloaded` is called on the loop. Functions that it runs must not touch what the loop may change
meanwhile; the request's own objects are theirs, as the caller only waits for the result. When the caller is cancelled,
the computation is interrupted.
"""

import asyncio
import contextvars
import ctypes
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")

LARGE_BYTES = 32 * 1024
"""Requests whose objects are smaller in all are computed on the loop. Most objects are; 32 KiB take up to 30 ms."""
THREADS_MAX = 4
INLINE_STEPS_MAX = 10_000
"""Steps that a computation of a small request may take on the loop, where steps are counted: about 20 ms of CEL."""


class Interrupted(BaseException):
    """Ends a computation whose request was cancelled. Not an `Exception`, so that nothing in between handles it."""


class TakeThread(BaseException):
    """Raised by a computation of a small request that turns out to be long: `offloaded` begins it again in a thread."""


class Offload:
    """The threads of one server. They start when they are first needed and end with this object."""

    def __init__(self, threads_max: int = THREADS_MAX) -> None:
        self._threads_max = threads_max
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Return what `function` returns, computed in a thread. Raises what it raises."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self._threads_max, "offload")
        job = _Job(contextvars.copy_context(), function, args)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, job.run)
        except asyncio.CancelledError:
            job.interrupt()
            raise


class RequestWork:
    """How large a request is, as far as is known: its body and the stored objects that it deals with."""

    __slots__ = ("offload", "size_bytes")

    def __init__(self, offload: Offload) -> None:
        self.offload = offload
        self.size_bytes = 0


_current: contextvars.ContextVar[RequestWork | None] = contextvars.ContextVar("request work", default=None)


def begin_work(offload: Offload) -> None:
    """Let `offloaded` use these threads in the present task: it begins with a request."""
    _current.set(RequestWork(offload))


def note_size(size_bytes: int) -> None:
    """Add the size of something that the request has to compute with."""
    work = _current.get()
    if work is not None:
        work.size_bytes += size_bytes


_steps_left: contextvars.ContextVar[int | None] = contextvars.ContextVar("steps left on the loop", default=None)


def steps_left() -> int | None:
    """How many steps a computation may still take before it has to `take_thread`; None: any number."""
    return _steps_left.get()


def count_steps(steps: int) -> None:
    """Count steps that were taken."""
    left = _steps_left.get()
    if left is not None:
        _steps_left.set(left - steps)


async def offloaded(function: Callable[..., T], *args: object) -> T:
    """Return `function(*args)`; of a large request it is computed in a thread.

    A function that counts its steps may raise `TakeThread` before it has changed anything.
    """
    work = _current.get()
    if work is None:
        return function(*args)
    if work.size_bytes < LARGE_BYTES:
        token = _steps_left.set(INLINE_STEPS_MAX)
        try:
            return function(*args)
        except TakeThread:
            pass
        finally:
            _steps_left.reset(token)
    return await work.offload.run(function, *args)


async def in_thread(function: Callable[..., T], *args: object) -> T:
    """Return `function(*args)`, computed in a thread however large the request is, where the server has threads."""
    work = _current.get()
    return function(*args) if work is None else await work.offload.run(function, *args)


class _Job(Generic[T]):
    """A computation that can be interrupted from another thread while it runs, and only then."""

    __slots__ = ("_args", "_context", "_function", "_lock", "_thread")

    def __init__(self, context: contextvars.Context, function: Callable[..., T], args: tuple[object, ...]) -> None:
        self._context, self._function, self._args = context, function, args
        self._lock = threading.Lock()
        self._thread: int | None = None

    def run(self) -> T:
        """Compute. Raises what the function raises, and `Interrupted`."""
        self._thread = threading.get_ident()
        try:
            return self._context.run(self._function, *self._args)
        finally:
            # An interruption is sent while the lock is held: after this no other one can come, and one that was sent
            # arrives at the latest here, not in the thread's next job.
            self._lock.acquire()
            self._thread = None
            self._lock.release()

    def interrupt(self) -> None:
        """Raise `Interrupted` in the computation, if it runs."""
        with self._lock:
            if self._thread is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(Interrupted))
