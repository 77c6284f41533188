"""`Controller`: runs one reconciler for the requests of its sources.

Concurrency: `run` owns all tasks: one for each source and one for each worker, in one task group. Workers share the
work queue, which hands a request to one worker at a time. Plain reconcilers run in a pool with as many threads as
workers. `run` ends by cancellation, which cancels running reconciles, or after `drain`, which lets them finish. With
`warm_up`, the sources are tasks of `warm_up()` instead, which may start long before `run`.

Guarantees: one object is never reconciled twice at the same time. An exception of a reconciler ends only that
reconcile.

Source: controller-runtime pkg/internal/controller/controller.go (0.24).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Final, cast

from prometheus_client import CollectorRegistry

from sampan.client.written import WRITE_OBSERVER
from sampan.operator.controller.awaited import awaited
from sampan.operator.controller.context import (
    CURRENT_RECONCILE,
    EVENT_OBSERVER,
    RECONCILE_OBSERVER,
    RECONCILE_WRAPPER,
    FinishedReconcile,
    ReconcileContext,
    note_write,
    reconcile_ids,
)
from sampan.operator.controller.failing import FailingObject
from sampan.operator.controller.failure_log import FailureLog
from sampan.operator.controller.metrics import ControllerMetrics
from sampan.operator.controller.options import ControllerOptions
from sampan.operator.controller.tracing import ReconcileTracer
from sampan.operator.failures.error_text import ERROR_CHARACTERS_MAX, cut, one_line
from sampan.operator.failures.failed_events import EVENT_FAILED, EVENT_RECOVERED, EventFailure
from sampan.operator.failures.groups import single_error
from sampan.operator.failures.requested_delay import add_failed
from sampan.operator.history.object_write import ReconcileWrites
from sampan.operator.history.reconcile_attempt import ReconcileAttempt
from sampan.operator.history.reconcile_history import ReconcileHistory, ReconcileRate
from sampan.operator.queue import REQUEUE_AFTER, QueueItem, QueueShutDown, WorkQueue, WorkQueueMetrics
from sampan.operator.reconciler import ReconcileFunction, Reconciler, in_thread, is_asynchronous, reconcile_function
from sampan.operator.request import Request, Result, TerminalError
from sampan.operator.source import Source

_log = logging.getLogger("sampan.controller")
_BUGS: Final = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, RecursionError)
_NOTHING_MORE: Final = Result()
_NO_SPAN: Final[AbstractContextManager[None]] = nullcontext()


class CacheSyncTimeout(TimeoutError):
    """A source has not synced in time: no access, no such resource, or too many objects."""


class ReconcileTimeout(TimeoutError):
    """A reconcile took longer than `reconcile_timeout_s`."""


class Controller:
    """Reconciles the requests of its sources. Runs once, usually in a `Manager`."""

    def __init__(
        self,
        name: str,
        reconciler: Reconciler | ReconcileFunction,
        *,
        options: ControllerOptions = ControllerOptions(),
        metrics: ControllerMetrics | None = None,
        queue_metrics: WorkQueueMetrics | None = None,
        history: ReconcileHistory | None = None,
    ) -> None:
        """`name` appears in logs and metrics. `history` gets the reconciles; None: one of this controller alone.

        Raises `TypeError` for an invalid reconciler.
        """
        self.name = name
        self.options = options
        self._function = reconcile_function(reconciler)
        self._executor: ThreadPoolExecutor | None = None
        families = metrics or ControllerMetrics(CollectorRegistry())
        self._metrics = families.of(name, options.max_concurrent_reconciles)
        self._queue_metrics = queue_metrics
        self._sources: list[Source] = []
        self._queue: WorkQueue[Request] | None = None
        self._synced = asyncio.Event()
        self._idle = asyncio.Event()
        self._sources_run = False
        self._started = False
        self._ids = reconcile_ids()
        self._failures = FailureLog()
        self.history = ReconcileHistory() if history is None else history
        """Last reconciles of the objects, perhaps also of other controllers."""
        self.rate = ReconcileRate()
        self.active = 0
        """Number of workers that reconcile."""
        self.resource = ""
        """Resource of the reconciled objects as `plural.group`; empty if it is unknown."""
        self.pause: Callable[[Request], bool] | None = None
        """Returns True for an object that must not be reconciled now. None: objects cannot be paused."""
        self.names_objects = False
        """True if the requests are known to name objects of watched kinds: the annotations of others cannot be read."""
        self._metrics.failing.set_function(lambda: len(self._failures))
        self._event_observer: Callable[[EventFailure], None] | None = None
        self.tracer: ReconcileTracer | None = None
        """Creates the spans of reconciles. Set it before the start."""

    def __str__(self) -> str:
        return f"controller {self.name}"

    @property
    def queue(self) -> WorkQueue[Request]:
        """Work queue. It is created on first use, on the running loop."""
        if self._queue is None:
            limiter = self.options.rate_limiter
            self._queue = WorkQueue(self.name, rate_limiter=limiter, metrics=self._queue_metrics)
        return self._queue

    @property
    def workers(self) -> int:
        """Limit of the reconciles at the same time."""
        return self.options.max_concurrent_reconciles

    @property
    def needs_leader_election(self) -> bool:
        """True if only the leader runs the controller."""
        return self.options.needs_leader_election

    @property
    def warms_up(self) -> bool:
        """True if `warm_up` runs before this replica leads."""
        return self.options.warm_up and self.options.needs_leader_election

    def failing(self) -> list[FailingObject]:
        """Return the objects whose last reconcile, or last event, has failed: at most 4096."""
        return self._failures.failing(self.name)

    def is_paused(self, request: Request) -> bool:
        """Return True if a user has paused the object."""
        return self.pause is not None and self.pause(request)

    def watch(self, source: Source) -> None:
        """Add a source. Raises `RuntimeError` if the sources are running."""
        if self._sources_run:
            raise RuntimeError(f"{self} is running: add sources before the start")
        self._sources.append(source)

    async def ready(self) -> None:
        """Wait until every source has queued its initial objects."""
        await self._synced.wait()

    async def warm_up(self) -> None:
        """Run the sources until cancelled; `run` then only runs the workers.

        Raises an exception group with the errors of `run`.
        """
        self._sources_run = True
        self._event_observer = EVENT_OBSERVER.get()
        EVENT_FAILED.set(self._event_failed)
        EVENT_RECOVERED.set(self._failures.event_recovered)
        async with asyncio.TaskGroup() as tasks:
            events = []
            for source in self._sources:
                events.append(synced := asyncio.Event())
                tasks.create_task(source.run(self.queue, synced=synced), name=f"{self.name}: {source}")
            for source, event in zip(self._sources, events, strict=True):
                await self._wait_for_sync(source, event)
            self._synced.set()

    async def run(self) -> None:
        """Reconcile until cancelled or drained.

        Raises `RuntimeError` on the second call, `CacheSyncTimeout`, and errors of sources.
        """
        if self._started:
            raise RuntimeError(f"{self} was started more than once; was it added to a manager twice?")
        self._started = True
        try:
            async with asyncio.TaskGroup() as tasks:
                sources = None if self._sources_run else tasks.create_task(self.warm_up())
                await self._synced.wait()
                _log.debug("%s started, its caches have synced", self, extra={"controller": self.name})
                await self._work()
                if sources is not None:
                    sources.cancel()
        except ExceptionGroup as group:
            raise single_error(group) from None
        finally:
            self._idle.set()
            if self._executor is not None:
                self._executor.shutdown(wait=False)

    async def drain(self) -> None:
        """Start no more reconciles, and wait for the running ones. Then `run` returns."""
        self.queue.shut_down()
        if self._started:
            await self._idle.wait()

    async def _wait_for_sync(self, source: Source, synced: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self.options.cache_sync_timeout_s):
                await synced.wait()
        except TimeoutError:
            seconds = self.options.cache_sync_timeout_s
            raise CacheSyncTimeout(f"{self}: {source} has not synced in {seconds:g} s") from None

    async def _work(self) -> None:
        async with asyncio.TaskGroup() as workers:
            for number in range(self.options.max_concurrent_reconciles):
                workers.create_task(self._worker(), name=f"{self.name}: worker {number}")

    async def _worker(self) -> None:
        queue = self.queue
        WRITE_OBSERVER.set(note_write)
        while True:
            try:
                item = await queue.take()
            except QueueShutDown:
                return
            try:
                if self.is_paused(item.key):
                    queue.forget(item.key)  # it is queued again when it is resumed
                    self.history.revision += 1
                else:
                    await self._handle(item)
            finally:
                queue.done(item.key)
            # A reconciler that never waits would otherwise block all other tasks.
            await asyncio.sleep(0)

    async def _handle(self, item: QueueItem[Request]) -> None:
        """Run one reconcile and handle its result."""
        request = item.key
        context = ReconcileContext(self.name, request, next(self._ids), item.priority, ReconcileWrites())
        token = CURRENT_RECONCILE.set(context)
        loop = asyncio.get_running_loop()
        started = loop.time()
        slow = _SlowReconcile(context, self.options.slow_reconcile_s)
        self._metrics.active.inc()
        self.active += 1
        trace_id, error, next_s, ended = "", None, None, False
        try:
            with _NO_SPAN if self.tracer is None else self.tracer.reconcile(context):
                trace_id = "" if self.tracer is None else self.tracer.trace_id()
                result = await self._reconcile(request)
        except Exception as raised:
            error, ended = raised, True
            next_s = self._failed(context, raised)
        else:
            next_s, ended = self._succeeded(context, result), True
        finally:
            slow.cancel()
            self._metrics.active.dec()
            self.active -= 1
            duration_s = loop.time() - started
            self._metrics.time.observe(duration_s)
            if ended:
                self._remember(context, item, (started, duration_s), error, next_s, trace_id)
            CURRENT_RECONCILE.reset(token)

    async def _reconcile(self, request: Request) -> Result:
        timeout_s = self.options.reconcile_timeout_s
        limit = asyncio.timeout(timeout_s)
        try:
            if timeout_s is None:
                result = await self._call(request)
            else:
                async with limit:
                    result = await self._call(request)
        except TimeoutError as error:
            if timeout_s is None or not limit.expired():
                raise
            self._metrics.timeouts.inc()
            raise ReconcileTimeout(f"the reconcile took longer than {timeout_s:g} s") from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # This worker was not cancelled: the reconciler has awaited a cancelled task.
            raise RuntimeError("the reconciler raised CancelledError, though it was not cancelled") from error
        if result is None:
            return _NOTHING_MORE
        if not isinstance(result, Result):
            raise TypeError(f"a reconciler returns a Result or None, not {result!r}")
        return result

    async def _call(self, request: Request) -> object:
        if is_asynchronous(self._function):
            running = cast(Awaitable[object], self._function(request))
            wrapper = RECONCILE_WRAPPER.get()
            return await (running if wrapper is None else wrapper(running))
        if self._executor is None:
            workers = self.options.max_concurrent_reconciles
            self._executor = ThreadPoolExecutor(workers, thread_name_prefix=f"reconcile-{self.name}")
        response: object = await in_thread(self._executor, self._function, request)
        return await response if isinstance(response, Awaitable) else response

    def _succeeded(self, context: ReconcileContext, result: Result) -> float | None:
        """Queue the next attempt that a result requests. Return its delay."""
        self.queue.forget(context.request)
        _observe(context, None, result.requeue_after_s)
        self._failures.succeeded(context)
        if result.requeue_after_s is None or result.requeue_after_s <= 0:
            self._metrics.results["success"].inc()
            return None
        priority = context.priority if result.priority is None else result.priority
        self.queue.add_after(context.request, result.requeue_after_s, priority=priority, cause=REQUEUE_AFTER)
        self._metrics.results["requeue_after"].inc()
        return result.requeue_after_s

    def _failed(self, context: ReconcileContext, error: Exception) -> float | None:
        """Queue the next attempt after a failure. Return its delay; None if there is none."""
        self._metrics.errors.inc()
        self._metrics.results["error"].inc()
        if isinstance(error, _BUGS):
            self._metrics.panics.inc()
        retry_s = None
        if isinstance(error, TerminalError):
            self._metrics.terminal_errors.inc()
        else:
            retry_s = add_failed(self.queue, context.request, error, priority=context.priority)
        self._failures.failed(context, error, retry_s)
        _observe(context, error, retry_s)
        return retry_s

    def _remember(
        self,
        context: ReconcileContext,
        item: QueueItem[Request],
        times: tuple[float, float],
        error: Exception | None,
        next_s: float | None,
        trace_id: str,
    ) -> None:
        """Record a reconcile. `times`: its start and its duration."""
        started, duration_s = times
        key, writes = (self.name, context.request), context.writes or ReconcileWrites()
        self.rate.count(started + duration_s, failed=error is not None)
        record = ReconcileAttempt(
            context.reconcile_id,
            started,
            duration_s,
            started - item.due_since,
            "" if error is None else cut(one_line(error), ERROR_CHARACTERS_MAX),
            next_s,
            self.history.next_attempt(key),
            item.causes,
            trace_id,
            writes.listed,
            writes.more,
        )
        self.history.add(key, record)

    def _event_failed(self, failure: EventFailure) -> None:
        self._metrics.event_errors.inc()
        self._failures.event_failed(failure)
        if self._event_observer is not None:
            self._event_observer(failure)


def _observe(context: ReconcileContext, error: Exception | None, next_s: float | None) -> None:
    observer = RECONCILE_OBSERVER.get()
    if observer is not None:
        observer(FinishedReconcile(context, error, next_s))


class _SlowReconcile:
    """Logs a warning while a reconcile of the current task is slow: after `after_s`, twice that time, and so on."""

    def __init__(self, context: ReconcileContext, after_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = context
        self._task = asyncio.current_task()
        self._after_s = after_s
        self._started = self._loop.time()
        self._timer = self._loop.call_at(self._started + after_s, self._warn)

    def cancel(self) -> None:
        """Stop the warnings."""
        self._timer.cancel()

    def _warn(self) -> None:
        context = self._context
        waits = awaited(self._task, below=Controller._call.__qualname__) if self._task is not None else ""
        _log.warning(
            "controller %s: %s: the reconcile has been running for %g s%s (reconcile %s)",
            *(context.controller, context.request, self._after_s, f"; it awaits {waits}" if waits else ""),
            context.reconcile_id,
            extra=context.fields(),
        )
        self._after_s *= 2
        self._timer = self._loop.call_at(self._started + self._after_s, self._warn)
