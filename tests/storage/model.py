"""The store as a model: every state it was in, kept whole."""

from dataclasses import dataclass, field

from sampan.storage.store import KeyValue, StoreEvent

State = dict[str, KeyValue]


@dataclass
class Model:
    """Expected contents of a store, after the same writes."""

    revision: int = 1
    compacted: int = 0
    states: dict[int, State] = field(default_factory=lambda: {1: {}})
    events: list[StoreEvent] = field(default_factory=list)

    @property
    def now(self) -> State:
        return self.states[self.revision]

    def write(self, key: str, value: bytes | None) -> int:
        """Any write that was accepted."""
        previous = self.now.get(key)
        state = dict(self.now)
        self.revision += 1
        if value is None:
            del state[key]
        else:
            state[key] = KeyValue(key, value, previous.create_revision if previous else self.revision, self.revision)
        self.states[self.revision] = state
        self.events.append(StoreEvent(self.revision, key, value, previous))
        return self.revision

    def rows(self, revision: int, start: str, end: str) -> list[KeyValue]:
        """The rows of a range at a revision, in order."""
        state = self.states[revision]
        return [state[key] for key in sorted(state) if start <= key < end]

    def after(self, revision: int, start: str, end: str) -> list[StoreEvent]:
        """The events of a range after a revision."""
        return [event for event in self.events if event.revision > revision and start <= event.key < end]
