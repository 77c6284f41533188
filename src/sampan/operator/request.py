"""`Request`, `Result` and `TerminalError`: the argument and the outcomes of a reconciler.

Source: controller-runtime pkg/reconcile/reconcile.go (0.24).
"""

from dataclasses import dataclass
from typing import NamedTuple

from sampan.informer.key import join_key, split_key


class Request(NamedTuple):
    """Name of an object to reconcile. It contains neither the change nor whether the object still exists."""

    namespace: str
    """Namespace of the object; empty for cluster-scoped objects."""
    name: str

    @property
    def key(self) -> str:
        """`namespace/name`, or `name`: the key of the object in a store."""
        return join_key(self.namespace, self.name)

    @classmethod
    def of_key(cls, key: str) -> "Request":
        """Return the request for a store's key. Raises `ValueError`."""
        return cls(*split_key(key))

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of a successful reconcile. `None` means `Result()`: no further action."""

    requeue_after_s: float | None = None
    """Reconcile again after this many seconds, or earlier after a change. None or ≤ 0: only after a change."""
    priority: int | None = None
    """Priority of that next reconcile; None keeps the current one."""


class RetryLater(Exception):
    """Another component has not finished yet: the request is retried, after `after_s` seconds or the usual delay.

    Raise it, or a subclass, with a text that names the missing part. It is logged in one line, without a traceback. A
    change of the object ends the delay.

        raise RetryLater("the volume is being attached", after_s=30)
    """

    after_s: float | None = None
    """Delay in seconds. None: the backoff, which grows with each failure."""

    def __init__(self, *args: object, after_s: float | None = None) -> None:
        """Raises `ValueError` if the delay is not positive."""
        super().__init__(*args)
        if after_s is not None and not after_s > 0:
            raise ValueError(f"after_s must be positive, not {after_s:g}")
        self.after_s = after_s


class TerminalError(Exception):
    """A retry would not help: the error is logged and counted, and the object is reconciled only after its next change.

    Raise it `from` the error that is the reason.
    """
