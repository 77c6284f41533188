"""`Registration`: one handler at an informer, with a queue and a task of its own.

A slow handler delays nobody else. Its queue has no bound, as in client-go: to drop events would break the promise that
the last state is told, and to wait would hold up the store and all other handlers. The queue holds references, not
copies; `pending` is its length, and an informer warns when it grows beyond `PENDING_WARNING`. Handlers that have much
to do put keys into a work queue.
Source: client-go tools/cache/shared_informer.go `processorListener` (1.36).
"""

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Callable
from typing import Final, Generic, TypeVar

import msgspec

from sampan.informer.handler import EventHandler, Told
from sampan.informer.ref import Deletion, Ref

T = TypeVar("T")

_log = logging.getLogger("sampan.informer")

PENDING_WARNING: Final = 10_000
"""Events waiting for one handler at which a line is logged; again at each doubling."""

_TURN = 100
"""Events of a plain handler after which other tasks get their turn."""


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
    """A handler at an informer: whether it has been told everything, and how to remove it."""

    def __init__(self, handler: EventHandler[T], *, resync_s: float, on_remove: "Callable[[Registration[T]], None]"):
        self.handler = handler
        self.resync_s = resync_s
        """Seconds between resyncs; 0: none."""
        self.resync_at = 0.0
        """When the next one is due, in the loop's time. For the informer."""
        self.resyncing = False
        """Whether the next resync is for this handler. For the informer."""
        self._on_remove = on_remove
        self._notices: deque[_Notice | None] = deque()
        self._filled = asyncio.Event()
        self._synced = asyncio.Event()
        self._ended = asyncio.Event()
        self._removed = False
        self._running = False
        self._warn_at = PENDING_WARNING

    def __str__(self) -> str:
        return f"handler {self.handler!r}"

    @property
    def pending(self) -> int:
        """Events that wait for the handler."""
        return len(self._notices)

    def has_synced(self) -> bool:
        """Whether the handler has been told all of the first list (and has returned from the last of it)."""
        return self._synced.is_set()

    async def synced(self) -> None:
        """Wait for that. Waits for ever when the handler is removed before."""
        await self._synced.wait()

    def remove(self) -> None:
        """Tell no more events, also not those that wait. One that is being told is finished. May be called twice."""
        if self._removed:
            return
        self._removed = True
        self._notices.clear()
        self._filled.set()
        if not self._running:
            self._ended.set()
        self._on_remove(self)

    async def removed(self) -> None:
        """Wait until the handler has been removed and is not being called any more. Never from within the handler."""
        await self._ended.wait()

    # What follows is for the informer.

    def tell_added(self, ref: Ref[T], is_in_initial_list: bool) -> None:
        """Queue it."""
        self._tell(_Added(ref, is_in_initial_list), many=is_in_initial_list)

    def tell_updated(self, old: Ref[T], new: Ref[T]) -> None:
        """Queue it; the same twice is a resync."""
        self._tell(_Updated(old, new), many=old is new)

    def tell_deleted(self, obj: Deletion[T]) -> None:
        """Queue it."""
        self._tell(_Deleted(obj))

    def tell_synced(self) -> None:
        """Behind this there is nothing of the first list."""
        self._tell(None)

    def _tell(self, notice: _Notice | None, *, many: bool = False) -> None:
        """`many`: it is one of a list or a resync, of which none says that the handler is slow."""
        if self._removed:
            return
        self._notices.append(notice)
        self._filled.set()
        if many:
            self._warn_at += 1
        elif len(self._notices) >= self._warn_at:
            _log.warning("%d events wait for handler %r: it is too slow", len(self._notices), self.handler)
            self._warn_at *= 2

    async def run(self) -> None:
        """Tell events until the handler is removed."""
        self._running = True
        turn = 0
        try:
            while True:
                if not self._notices:
                    self._warn_at = PENDING_WARNING
                    self._filled.clear()
                    if self._removed:
                        return
                    await self._filled.wait()
                    continue
                notice = self._notices.popleft()
                if notice is None:
                    self._synced.set()
                    continue
                turn += 1
                if await self._call(notice) or turn >= _TURN:
                    turn = 0
                    await asyncio.sleep(0)
        finally:
            self._running = False
            self._ended.set()

    async def _call(self, notice: _Notice) -> bool:
        """Call the handler; whether it was asynchronous."""
        try:
            told = self._told(notice)
            if told is None or not inspect.isawaitable(told):
                return False
            await told
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            _log.exception("handler %r waited for something that was cancelled", self.handler)
        except Exception:
            _log.exception("handler %r failed", self.handler)
        return True

    def _told(self, notice: _Notice) -> Told:
        if isinstance(notice, _Added):
            return self.handler.on_add(notice.ref, notice.is_in_initial_list)
        if isinstance(notice, _Updated):
            return self.handler.on_update(notice.old, notice.new)
        return self.handler.on_delete(notice.obj)
