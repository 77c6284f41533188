"""`Registration`: one handler of an informer, with its queue and its task.

A slow handler does not delay other handlers. Its queue is unbounded, as in client-go: dropping events would break the
guarantee that every handler gets the last state, and waiting would block the store and all other handlers. The queue
holds references, not copies. `pending` is its length; beyond `PENDING_WARNING` a warning is logged. Handlers with much
work should put keys into a work queue.
Source: client-go tools/cache/shared_informer.go `processorListener` (1.36).
"""

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import msgspec

from sampan.core.user_code import report_caught, timed, timed_steps
from sampan.informer.handler import EventHandler, HandlerResult
from sampan.informer.ref import Deletion, Ref

T = TypeVar("T")

_log = logging.getLogger("sampan.informer")

PENDING_WARNING: Final = 10_000
"""Number of queued events at which a warning is logged; again at each doubling."""

_EVENTS_PER_YIELD = 100
"""Events of a plain handler after which other tasks may run."""


class _Added(msgspec.Struct, frozen=True, gc=False, eq=False):
    ref: Ref  # type: ignore[type-arg]  # generic Structs cost time at each construction
    is_in_initial_list: bool


class _Updated(msgspec.Struct, frozen=True, gc=False, eq=False):
    old: Ref  # type: ignore[type-arg]  # as above
    new: Ref  # type: ignore[type-arg]  # as above


class _Deleted(msgspec.Struct, frozen=True, gc=False, eq=False):
    obj: Deletion  # type: ignore[type-arg]  # as above


_Notice = _Added | _Updated | _Deleted


class Registration(Generic[T]):
    """Handler that is registered with an informer. Reports its progress and can be removed."""

    def __init__(self, handler: EventHandler[T], *, resync_s: float, on_remove: "Callable[[Registration[T]], None]"):
        self.handler = handler
        self.resync_s = resync_s
        """Seconds between resyncs; 0: none."""
        self.resync_at = 0.0
        """Time of the next resync, in the loop's clock. The informer sets it."""
        self.resyncing = False
        """True if the next resync includes this handler. The informer sets it."""
        self._on_remove = on_remove
        self._notices: deque[_Notice | None] = deque()
        self._filled = asyncio.Event()
        self._synced = asyncio.Event()
        self._ended = asyncio.Event()
        self._removed = False
        self._finishing = False
        self._running = False
        self._warn_at = PENDING_WARNING

    def __str__(self) -> str:
        kind = type(self.handler)
        return f"handler {kind.__qualname__ if kind.__str__ is object.__str__ else self.handler}"

    @property
    def pending(self) -> int:
        """Number of events queued for the handler."""
        return len(self._notices)

    def has_synced(self) -> bool:
        """Return True if the handler has processed the whole first list."""
        return self._synced.is_set()

    async def synced(self) -> None:
        """Wait until the handler has processed the first list. Waits forever if the handler is removed before."""
        await self._synced.wait()

    def remove(self) -> None:
        """Stop notifying the handler and drop queued events. A running call finishes. May be called twice."""
        if self._removed:
            return
        self._removed = True
        # The task may be in a call. It sees the empty queue and `_removed` afterwards, and ends.
        self._notices.clear()
        self._filled.set()
        if not self._running:
            self._ended.set()
        self._on_remove(self)

    async def removed(self) -> None:
        """Wait until the handler is removed and no call of it is running. Must not be called by the handler."""
        await self._ended.wait()

    # Methods for the informer.

    def finish(self) -> None:
        """End `run` when all queued events are delivered. Later events are dropped."""
        self._queue(None)
        self._finishing = True
        self._filled.set()
        if not self._running:
            self.remove()

    def notify_added(self, ref: Ref[T], is_in_initial_list: bool) -> None:
        """Queue an addition."""
        self._queue(_Added(ref, is_in_initial_list), many=is_in_initial_list)

    def notify_updated(self, old: Ref[T], new: Ref[T]) -> None:
        """Queue a change; a resync if `old` is `new`."""
        self._queue(_Updated(old, new), many=old is new)

    def notify_deleted(self, obj: Deletion[T]) -> None:
        """Queue a deletion."""
        self._queue(_Deleted(obj))

    def notify_synced(self) -> None:
        """Queue the end of the first list."""
        self._queue(None)

    def _queue(self, notice: _Notice | None, *, many: bool = False) -> None:
        """Queue a notice. `many`: it is part of a list or a resync, whose size does not indicate a slow handler."""
        if self._removed or self._finishing:
            return
        self._notices.append(notice)
        self._filled.set()
        # A list of 100,000 objects fills the queue at once, which does not mean that the handler is slow.
        if many:
            self._warn_at += 1
        elif len(self._notices) >= self._warn_at:
            _log.warning("handler %r is too slow: %d events are queued", self.handler, len(self._notices))
            self._warn_at *= 2

    async def run(self) -> None:
        """Call the handler with queued events until it is removed."""
        self._running = True
        calls = 0
        try:
            while True:
                if not self._notices:
                    self._warn_at = PENDING_WARNING
                    self._filled.clear()
                    if self._removed or self._finishing:
                        return
                    await self._filled.wait()
                    continue
                notice = self._notices.popleft()
                if notice is None:
                    self._synced.set()
                    continue
                calls += 1
                # A handler without awaits would otherwise block the loop for the whole first list.
                if await self._call(notice) or calls >= _EVENTS_PER_YIELD:
                    calls = 0
                    await asyncio.sleep(0)
        finally:
            self._running = False
            self._ended.set()

    async def _call(self, notice: _Notice) -> bool:
        """Call the handler. Return True if it is asynchronous."""
        try:
            with timed(self):
                result = self._dispatch(notice)
            if result is None or not inspect.isawaitable(result):
                return False
            await timed_steps(self, result)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            # Only a cancellation of this task ends it. A handler may also await another task that was cancelled.
            if task is None or task.cancelling():
                raise
            _log.exception("handler %r awaited a cancelled task", self.handler)
        except Exception as error:
            _log.exception("handler %r failed", self.handler)
            report_caught(f"{self}, which loses the event,", error)
        return True

    def _dispatch(self, notice: _Notice) -> HandlerResult:
        if isinstance(notice, _Added):
            return self.handler.on_add(notice.ref, notice.is_in_initial_list)
        if isinstance(notice, _Updated):
            return self.handler.on_update(notice.old, notice.new)
        return self.handler.on_delete(notice.obj)
