"""`Cause`: the reason for which a key is in a queue. `Causes` merges those of one key.

A cause refers to texts that exist anyway, so it costs little per event and keeps no object alive.
"""

from typing import Final, NamedTuple

CAUSES_MAX: Final = 8
"""Limit of the causes of one key. Later ones are only counted."""


class CauseOrigin(NamedTuple):
    """Place that queues keys. All of its causes share it."""

    resource: str = ""
    """Resource of the changed objects as `plural.group`; empty if no object has changed."""
    handler: str = ""
    """Function or source that maps a change to keys."""
    predicates: tuple[str, ...] = ()
    """Predicates that events have passed."""


NO_ORIGIN: Final = CauseOrigin()


class Cause(NamedTuple):
    """One event for a key."""

    event: str
    """list, create, update, delete, resync, recheck, channel, retry, requeue-after, request, pause, resume."""
    origin: CauseOrigin = NO_ORIGIN
    key: str = ""
    """Key of the changed object."""
    resource_version: str = ""
    """Version of the changed object."""


RETRY: Final = Cause("retry")
REQUEUE_AFTER: Final = Cause("requeue-after")
ON_REQUEST: Final = Cause("request")


class Causes(NamedTuple):
    """Causes of a key, oldest first."""

    listed: tuple[Cause, ...] = ()
    more: int = 0
    """Number of further causes, which are not listed."""

    def merged(self, cause: Cause) -> "Causes":
        """Return the causes with another one. One that is listed already is not added again."""
        if cause in self.listed:
            return self
        if len(self.listed) < CAUSES_MAX:
            return Causes((*self.listed, cause), self.more)
        return Causes(self.listed, self.more + 1)


NO_CAUSES: Final = Causes()
