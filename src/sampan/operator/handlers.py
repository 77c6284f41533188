"""Map events of informers to requests: the objects to reconcile after a change.

Source: controller-runtime pkg/handler/{enqueue,enqueue_owner,enqueue_mapped,eventhandler}.go (0.24).
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Generic, TypeVar

from sampan.core.gvk import GroupVersion
from sampan.informer.handler import HandlerResult
from sampan.informer.ref import Deletion, Ref, last_known
from sampan.operator.failures.failed_events import FailedEvents
from sampan.operator.pausing import cause_of
from sampan.operator.predicates import Predicate
from sampan.operator.queue import LOW_PRIORITY, Cause, CauseOrigin, WorkQueue
from sampan.operator.request import Request
from sampan.resource import ResourceInfo

T = TypeVar("T")

MapFunction = Callable[[Ref[T]], Iterable[Request] | Awaitable[Iterable[Request]]]
"""Returns the requests for a changed object. For an update it is called with the old and the new state."""


def for_object(ref: Ref[Any]) -> Iterable[Request]:
    """Request the object itself."""
    return (Request.of_key(ref.key),)


def for_owner(owner: ResourceInfo, *, only_controller: bool = True) -> MapFunction[Any]:
    """Request the owners of the given group and kind, in any version. `only_controller`: only the controlling owner."""

    def requests(ref: Ref[Any]) -> Iterable[Request]:
        if b'"ownerReferences"' not in ref.raw:
            return ()
        return [
            Request(ref.namespace if owner.namespaced else "", reference.name)
            for reference in ref.owner_references
            if reference.kind == owner.kind
            and (reference.controller or not only_controller)
            and GroupVersion.parse(reference.api_version).group == owner.gvr.group
        ]

    return requests


Priority = int | Callable[[Ref[T]], int]
"""Priority of the requests for a changed object; a function gets the new state. Higher ones are reconciled first."""


class EnqueueHandler(Generic[T]):
    """Informer handler that puts requests into a queue.

    `priority` applies to changes. Objects of the initial list or a resync (old and new have the same resourceVersion)
    have a priority that is lower by 100 (`LOW_PRIORITY`). So recent changes go first. `debounce_s` is the delay after a
    change, in which further changes are merged. `failed` has the events whose predicate or map function has raised, to
    try again.
    """

    def __init__(
        self,
        queue: WorkQueue[Request],
        map_function: MapFunction[T],
        predicates: Iterable[Predicate[T]] = (),
        *,
        debounce_s: float = 0.0,
        source: str = "",
        priority: Priority[T] = 0,
        resource: str = "",
        pausable: bool = False,
    ) -> None:
        """`source` names the source in messages about failed events. `resource` names that of the objects in causes.

        `pausable`: queue objects that users resume, or for which they request a reconcile, whatever predicates select.
        """
        self._pausable = pausable
        self.failed: FailedEvents[str] = FailedEvents(queue.name, source)
        self._place = f"for {queue.name} ({source})"
        self._queue = queue
        self._map = map_function
        self._predicates = tuple(predicates)
        self._debounce_s = debounce_s
        self._priority = priority
        self._origin = CauseOrigin(resource, name_of(map_function), tuple(map(name_of, self._predicates)))

    def __str__(self) -> str:
        return self._place

    def on_add(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        """Queue the object if all predicates select it."""
        return self.failed.attempt(obj.key, partial(self._add_event, obj, is_in_initial_list))

    def on_update(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        """Queue both states if all predicates select the change."""
        return self.failed.attempt(new.key, partial(self._update_event, old, new))

    def on_delete(self, obj: Deletion[T]) -> HandlerResult:
        """Queue the last known state if all predicates select it."""
        ref = last_known(obj)
        return self.failed.attempt(ref.key, partial(self._delete_event, ref))

    def _add_event(self, obj: Ref[T], is_in_initial_list: bool) -> HandlerResult:
        if not all(predicate.create(obj) for predicate in self._predicates):
            return None
        event = "list" if is_in_initial_list else "create"
        return self._enqueue(self._priority_of(obj, low=is_in_initial_list), self._cause(event, obj), obj)

    def _update_event(self, old: Ref[T], new: Ref[T]) -> HandlerResult:
        requested = cause_of(old, new, self._origin) if self._pausable else None
        if requested is not None:
            return self._enqueue(self._priority_of(new), requested, new)
        if not all(predicate.update(old, new) for predicate in self._predicates):
            return None
        if old.resource_version == new.resource_version:
            return self._enqueue(self._priority_of(new, low=True), self._cause("resync", new), new)
        return self._enqueue(self._priority_of(new), self._cause("update", new), old, new)

    def _delete_event(self, ref: Ref[T]) -> HandlerResult:
        if not all(predicate.delete(ref) for predicate in self._predicates):
            return None
        return self._enqueue(self._priority_of(ref), self._cause("delete", ref), ref)

    def _cause(self, event: str, ref: Ref[T]) -> Cause:
        return Cause(event, self._origin, ref.key, ref.resource_version)

    def _priority_of(self, ref: Ref[T], *, low: bool = False) -> int:
        priority = self._priority if isinstance(self._priority, int) else self._priority(ref)
        if not isinstance(priority, int):
            raise TypeError(f"a priority is a number, not {priority!r}")
        return priority + LOW_PRIORITY if low else priority

    def _enqueue(self, priority: int, cause: Cause, *refs: Ref[T]) -> HandlerResult:
        for position, ref in enumerate(refs):
            found = self._map(ref)
            if not isinstance(found, tuple | list) and isinstance(found, Awaitable):
                return self._enqueue_later(priority, cause, found, *refs[position + 1 :])
            self._add(found, priority, cause)
        return None

    async def _enqueue_later(
        self, priority: int, cause: Cause, found: Awaitable[Iterable[Request]], *refs: Ref[T]
    ) -> None:
        self._add(await found, priority, cause)
        waiting = self._enqueue(priority, cause, *refs)
        if waiting is not None:
            await waiting

    def _add(self, requests: Iterable[Request], priority: int, cause: Cause) -> None:
        for request in requests:
            # The earliest time wins, so a stream of changes cannot delay an object forever.
            self._queue.add_after(request, self._debounce_s, priority=priority, cause=cause)


def name_of(part: Any) -> str:
    """Return the name of a map function or predicate, for causes."""
    # A predicate of functions, such as `label_selector`, has the name of the function that has made it.
    source = getattr(part, "on_create", None) or part
    name: str = getattr(source, "__qualname__", "") or type(source).__name__
    return name.removesuffix(".<locals>.requests").removesuffix(".<locals>.<lambda>").lstrip("_")
