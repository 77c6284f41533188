"""What is told of changes: event handlers.

Methods may be plain or asynchronous; a plain one must not take long, an asynchronous one delays only its own handler.
What they raise is logged, and the next event is told.
Source: client-go tools/cache/controller.go `ResourceEventHandler` and fellows (1.36).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from sampan.informer.ref import Deletion, Ref, last_known

T = TypeVar("T")

Told = Awaitable[None] | None


class EventHandler(Protocol[T]):
    """Is told of changes in the store, after the store has them. Told one after the other, in order for each key."""

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> Told:
        """An object is there; `is_in_initial_list`: it was so when the handler was added or the informer began."""
        ...

    def on_update(self, old: Ref[T], new: Ref[T]) -> Told:
        """An object has changed.

        At a resync both are the same, with the same resourceVersion. With another uid the object was deleted and
        made anew while nobody looked.
        """
        ...

    def on_delete(self, obj: Deletion[T]) -> Told:
        """An object is gone; a tombstone when its last state was not told."""
        ...


@dataclass(frozen=True, slots=True)
class EventHandlerFuncs(Generic[T]):
    """A handler made of functions; what is None is not told."""

    add: Callable[[Ref[T]], Told] | None = None
    update: Callable[[Ref[T], Ref[T]], Told] | None = None
    delete: Callable[[Deletion[T]], Told] | None = None

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> Told:
        """Calls `add`."""
        return self.add(obj) if self.add else None

    def on_update(self, old: Ref[T], new: Ref[T]) -> Told:
        """Calls `update`."""
        return self.update(old, new) if self.update else None

    def on_delete(self, obj: Deletion[T]) -> Told:
        """Calls `delete`."""
        return self.delete(obj) if self.delete else None


@dataclass(frozen=True, slots=True)
class FilteringEventHandler(Generic[T]):
    """Tells a handler only of the objects that pass.

    One that begins to pass is told as added, one that no longer passes as deleted.
    """

    passes: Callable[[Ref[T]], bool]
    handler: EventHandler[T]

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> Told:
        """Told if it passes."""
        return self.handler.on_add(obj, is_in_initial_list) if self.passes(obj) else None

    def on_update(self, old: Ref[T], new: Ref[T]) -> Told:
        """Told as what it means for the filter."""
        before, now = self.passes(old), self.passes(new)
        if before and now:
            return self.handler.on_update(old, new)
        if now:
            return self.handler.on_add(new, False)
        if before:
            return self.handler.on_delete(old)
        return None

    def on_delete(self, obj: Deletion[T]) -> Told:
        """Told if its last known state passes."""
        return self.handler.on_delete(obj) if self.passes(last_known(obj)) else None
