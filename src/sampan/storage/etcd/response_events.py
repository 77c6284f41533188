"""`ResponseEvents`: events of this server's own writes, taken from etcd's responses to them.

A response to a write has the new revision and, on request, the row before it: everything an event has. etcd gives every
transaction a revision and skips none. So the event whose revision follows the last dispatched one is the next event of
the watch. It can be dispatched before the watch delivers it.
"""

from sampan.storage.store import StoreEvent


class ResponseEvents:
    """Events from responses that are not dispatched yet, by revision."""

    def __init__(self) -> None:
        self._events: dict[int, StoreEvent] = {}

    def add(self, event: StoreEvent) -> None:
        """Keep the event until it is next, or until the watch delivers it."""
        self._events[event.revision] = event

    def take(self, after: int) -> list[StoreEvent]:
        """Remove and return the events whose revisions follow `after` without a gap."""
        taken: list[StoreEvent] = []
        while (event := self._events.pop(after + len(taken) + 1, None)) is not None:
            taken.append(event)
        return taken

    def forget(self, until: int) -> None:
        """Drop the events up to this revision: the watch has delivered them."""
        if self._events:
            for revision in [known for known in self._events if known <= until]:
                del self._events[revision]
