"""Event handlers: callbacks for changes of objects.

Methods may be plain or asynchronous. A plain one must return quickly; an asynchronous one delays only its own handler.
Exceptions are logged, and the next event follows.
Source: client-go tools/cache/controller.go `ResourceEventHandler`, `FilteringResourceEventHandler` (1.36).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sampan.informer.ref import Deletion, Ref, last_known

T = TypeVar("T")

HandlerResult = Awaitable[None] | None


class EventHandler(Protocol[T]):
    """Receives changes after the store has them, one at a time, in order for each key."""

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        """Handle a new object. `is_in_initial_list`: it existed when the handler was added or the informer started."""
        ...

    def on_update(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        """Handle a changed object.

        In a resync, `old` is `new`. If the uids differ, the object was deleted and created again while the watch was
        interrupted.
        """
        ...

    def on_delete(self, obj: Deletion[T]) -> HandlerResult:
        """Handle a deleted object. `obj` is a tombstone if the last state of the object is unknown."""
        ...


@dataclass(frozen=True, slots=True)
class EventHandlerFuncs(Generic[T]):
    """Handler made of functions. Events without a function are ignored."""

    add: Callable[[Ref[T]], HandlerResult] | None = None
    update: Callable[[Ref[T], Ref[T]], HandlerResult] | None = None
    delete: Callable[[Deletion[T]], HandlerResult] | None = None

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        """Call `add`."""
        return self.add(obj) if self.add else None

    def on_update(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        """Call `update`."""
        return self.update(old, new) if self.update else None

    def on_delete(self, obj: Deletion[T]) -> HandlerResult:
        """Call `delete`."""
        return self.delete(obj) if self.delete else None


@dataclass(frozen=True, slots=True)
class FilteringEventHandler(Generic[T]):
    """Passes only selected objects to a handler.

    An object that becomes selected is added; one that is no longer selected is deleted.
    """

    passes: Callable[[Ref[T]], bool]
    handler: EventHandler[T]

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        """Call the handler if the object is selected."""
        return self.handler.on_add(obj, is_in_initial_list) if self.passes(obj) else None

    def on_update(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        """Call the handler with the change as the filter sees it: added, updated or deleted."""
        before, now = self.passes(old), self.passes(new)
        if before and now:
            return self.handler.on_update(old, new)
        if now:
            return self.handler.on_add(new, False)
        if before:
            return self.handler.on_delete(old)
        return None

    def on_delete(self, obj: Deletion[T]) -> HandlerResult:
        """Call the handler if the last known state is selected."""
        return self.handler.on_delete(obj) if self.passes(last_known(obj)) else None
