"""`Request`, `Result` and `TerminalError`: what a reconciler is asked, and how it answers.

Source: controller-runtime pkg/reconcile/reconcile.go (0.24).
"""

from dataclasses import dataclass
from typing import NamedTuple

from sampan.informer.key import join_key, split_key


class Request(NamedTuple):
    """Names an object to be looked at; says nothing of what has happened to it, nor whether it still exists."""

    namespace: str
    """Empty for objects of the cluster."""
    name: str

    @property
    def key(self) -> str:
        """`namespace/name`, or `name`: the key of the object in a store."""
        return join_key(self.namespace, self.name)

    @classmethod
    def of_key(cls, key: str) -> "Request":
        """The request for a store's key. Raises `ValueError`."""
        return cls(*split_key(key))

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True, slots=True)
class Result:
    """How a reconciler that has succeeded wants to go on. `None` in its place means `Result()`: nothing more to do."""

    requeue_after_s: float | None = None
    """Look again after so many seconds, or earlier if something changes. None or ≤ 0: only if something changes."""
    priority: int | None = None
    """The priority of that next look; None keeps the one of this."""


class RetryLater(Exception):
    """Something that another component does has not happened yet: the request is tried again after the usual delay.

    Raise it, or a subclass, with a text that says what is missing. It is logged in one line, without a traceback.
    """


class TerminalError(Exception):
    """Trying again would not help: it is logged and counted, and the request is not tried again until a change.

    Raise it `from` the error that is the reason.
    """
