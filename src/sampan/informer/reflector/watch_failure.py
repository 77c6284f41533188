"""`WatchFailure`: a list or watch that failed, and what the reflector does next."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from sampan.client.errors import ApiError, Expired, TooManyRequests, TransportError

_log = logging.getLogger("sampan.informer")


@dataclass(frozen=True, slots=True)
class WatchFailure:
    """A failed list or watch. `str` of it is a log line: resource, cause, next step and delay."""

    resource: str
    """The resource with its namespace and selectors: "pods in namespace a"."""
    error: Exception
    next_step: str
    """Next step of the reflector: "listing again", "resuming the watch from resourceVersion 17"."""
    delay_s: float
    """Seconds until the next step."""

    def __str__(self) -> str:
        when = f"in {self.delay_s:.1f} s" if self.delay_s else "now"
        return f"cannot list or watch {self.resource}: {self.cause}; {self.next_step} {when}"

    @property
    def cause(self) -> str:
        """Text of the error."""
        return _cause(self.error)


WatchErrorHandler = Callable[[WatchFailure], None]
"""Called for each failure of a list or watch, before the delay. Must return at once."""


def log_watch_error(failure: WatchFailure) -> None:
    """Log a failure: the default `WatchErrorHandler`.

    Expired resourceVersions are part of normal operation (debug). Lost connections and 429 pass by themselves (info).
    Anything else is a warning.
    """
    if isinstance(failure.error, Expired):
        level = logging.DEBUG
    elif isinstance(failure.error, TransportError | TooManyRequests):
        level = logging.INFO
    else:
        level = logging.WARNING
    _log.log(level, "%s", failure)


def _cause(error: Exception) -> str:
    if isinstance(error, ApiError):
        return f"{error.message} ({error.code} {error.reason})" if error.reason else f"{error.message} ({error.code})"
    return str(error) or type(error).__name__
