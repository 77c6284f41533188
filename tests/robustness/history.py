"""The calls and watches of clients with their results, and the changes that were committed."""

from dataclasses import dataclass, field
from enum import Enum

FOREVER = float("inf")


class Outcome(Enum):
    """The client's result of a call."""

    DONE = "done"
    CONFLICT = "conflict"
    """The key was not at the revision that the call named."""
    EXISTS = "exists"
    MISSING = "missing"
    NOT_DONE = "not done"
    """The server reported that it did nothing."""
    UNKNOWN = "unknown"
    """No answer, or one that leaves it open: the write may have happened, or may still happen."""


class Kind(Enum):
    """The kind of a call."""

    CREATE = "create"
    UPDATE = "update"
    PATCH = "patch"
    """An update whatever the revision."""
    DELETE = "delete"
    GET = "get"
    LIST = "list"


@dataclass(slots=True)
class Call:
    """One call. `value` is unique for a write; for a read it is what was read."""

    kind: Kind
    key: str
    begin: float
    end: float = FOREVER
    outcome: Outcome = Outcome.UNKNOWN
    value: str = ""
    expected: int = 0
    """The revision that the key was to have."""
    revision: int = 0
    """The revision that was written or read. It is 0 for a deletion, because no answer contains it."""
    items: dict[str, tuple[int, str]] = field(default_factory=dict)
    """For a list: revision and value by key."""
    server: str = ""

    @property
    def writes(self) -> bool:
        """Return whether the call may commit something."""
        return self.kind not in (Kind.GET, Kind.LIST)


@dataclass(frozen=True, slots=True)
class Event:
    """One committed change. `value` is None for a deletion; `before` is the key's revision before it (0: none)."""

    revision: int
    key: str
    value: str | None
    before: int


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """One event of a watch: ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    revision: int
    key: str = ""
    value: str = ""


@dataclass(slots=True)
class Watched:
    """The events that one watch received, from after the revision `start` on."""

    start: int
    received: list[ReceivedEvent] = field(default_factory=list)
    name: str = ""


def log_of(changes: list[tuple[int, str, str | None]]) -> list[Event]:
    """The events of changes (revision, key, value or None), in their order."""
    present: dict[str, int] = {}
    events: list[Event] = []
    for revision, key, value in sorted(changes, key=lambda change: change[0]):
        events.append(Event(revision, key, value, present.get(key, 0)))
        if value is None:
            present.pop(key, None)
        else:
            present[key] = revision
    return events
