"""`EventRecorder`: records events in reconcilers."""

from collections.abc import Mapping
from typing import Any

from sampan.core.time import Clock
from sampan.operator.events.broadcaster import EventBroadcaster
from sampan.operator.events.event import Event, EventType, reference_to


class EventRecorder:
    """Records events of a controller. Its methods never wait, and errors of the server do not reach the caller.

    Call it on the event loop; from the thread of a plain reconciler use `loop.call_soon_threadsafe`.
    """

    def __init__(
        self, broadcaster: EventBroadcaster, controller: str, instance: str, clock: Clock, *, host: str = ""
    ) -> None:
        """`host` is the node of the events, if it is relevant."""
        self._broadcaster = broadcaster
        self._host = host
        self._controller = controller
        self._instance = instance
        self._clock = clock

    def normal(self, obj: Any, reason: str, note: str, *, action: str = "", related: Any = None) -> None:
        """Record a normal event.

        `obj` is the object of the event: a dict, an object of a declared kind, or a `Ref`. `related` is a second
        object. `reason` and `action` are words in UpperCamelCase for programs; `action` defaults to the reason. `note`
        is a sentence for people, cut at 1 kB. Raises `ValueError` and `TypeError` for an object without a kind.
        """
        self._record(obj, "Normal", reason, note, (action, related))

    def warning(
        self,
        obj: Any,
        reason: str,
        note: str,
        *,
        action: str = "",
        related: Any = None,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Record a warning. The arguments are those of `normal`. `annotations`: annotations of the Event object."""
        self._record(obj, "Warning", reason, note, (action, related), annotations)

    def _record(
        self,
        obj: Any,
        type: EventType,
        reason: str,
        note: str,
        more: tuple[str, Any],
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        action, related = more
        self._broadcaster.put(
            Event(
                self._controller,
                self._instance,
                reference_to(obj),
                type,
                reason,
                action or reason,
                note,
                self._clock.now(),
                None if related is None else reference_to(related),
                self._host,
                annotations or {},
            )
        )
