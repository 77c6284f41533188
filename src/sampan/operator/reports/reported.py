"""`Reported`: a source of reports. A `Controller` is one, and so is a loop with a queue of another kind."""

from collections.abc import Callable, Set
from typing import Protocol

from sampan.operator.history.reconcile_history import ReconcileRate
from sampan.operator.request import Request


class ReportedQueue(Protocol):
    """State of a queue. Times are those of the event loop's clock."""

    def __len__(self) -> int:
        """Return the number of objects that are due."""
        ...

    @property
    def waiting(self) -> int:
        """Number of objects with a delay."""
        ...

    @property
    def processing(self) -> Set[Request]:
        """Objects that are handled now."""
        ...

    def oldest_due_at(self) -> float | None:
        """Return since when the first object is due."""
        ...

    def due_at(self, key: Request, /) -> float | None:
        """Return the time of the next attempt for an object; None if none is planned."""
        ...

    def running_since(self, key: Request, /) -> float | None:
        """Return the start of the running attempt for an object."""
        ...


class Reported(Protocol):
    """Loop whose work is reported. Its attempts are in the history of the manager, by its name."""

    @property
    def name(self) -> str:
        """Name in the history, and of the report."""
        ...

    @property
    def resource(self) -> str:
        """Resource of the objects as `plural.group`; empty if it is unknown."""
        ...

    @property
    def workers(self) -> int:
        """Limit of the attempts at the same time."""
        ...

    @property
    def active(self) -> int:
        """Number of running attempts."""
        ...

    @property
    def queue(self) -> ReportedQueue:
        """Objects that wait."""
        ...

    @property
    def rate(self) -> ReconcileRate:
        """Attempts in the last minute."""
        ...

    @property
    def pause(self) -> Callable[[Request], bool] | None:
        """Returns True for an object that a user has paused. None: users cannot pause objects."""
        ...

    @property
    def names_objects(self) -> bool:
        """True if the kind of the objects is known."""
        ...

    def is_paused(self, request: Request, /) -> bool:
        """Return True if a user has paused the object."""
        ...
