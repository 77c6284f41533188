"""`EventRecorder`: how a reconciler says what has happened."""

from typing import Any

from sampan.core.time import Clock
from sampan.operator.events.broadcaster import EventBroadcaster
from sampan.operator.events.event import Event, EventType, reference_to


class EventRecorder:
    """Records events in the name of a controller. Nothing here waits, and no trouble with the server comes back.

    To be called on the event loop; from the thread of a plain reconciler by `loop.call_soon_threadsafe`.
    """

    def __init__(
        self, broadcaster: EventBroadcaster, controller: str, instance: str, clock: Clock, *, host: str = ""
    ) -> None:
        """`host`: the node that the events come from, where people want to see it."""
        self._broadcaster = broadcaster
        self._host = host
        self._controller = controller
        self._instance = instance
        self._clock = clock

    def normal(self, obj: Any, reason: str, note: str, *, action: str = "", related: Any = None) -> None:
        """Something went as it should.

        `obj` is what the event is about: a dict, an object of a declared kind, or a `Ref`; `related` a second one.
        `reason` and `action` are words in UpperCamelCase for programs (`action` is the reason unless given), `note` a
        sentence for people, cut at 1 kB. Raises `ValueError` and `TypeError` for an object that says no kind.
        """
        self._record(obj, "Normal", reason, note, (action, related))

    def warning(self, obj: Any, reason: str, note: str, *, action: str = "", related: Any = None) -> None:
        """Something went wrong. Otherwise as `normal`."""
        self._record(obj, "Warning", reason, note, (action, related))

    def _record(self, obj: Any, type: EventType, reason: str, note: str, more: tuple[str, Any]) -> None:
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
            )
        )
