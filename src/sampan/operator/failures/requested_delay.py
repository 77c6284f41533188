"""Delays that errors request: `RetryLater(after_s=…)`, and `Retry-After` of a server."""

from collections.abc import Hashable, Iterator
from typing import Final, TypeVar

from sampan.client.errors import ApiError
from sampan.operator.queue import RETRY, WorkQueue
from sampan.operator.request import RetryLater

K = TypeVar("K", bound=Hashable)

RETRY_AFTER_S_MAX: Final = 1000.0
"""Longest delay that a server can request: the longest of the default backoff."""


def add_failed(queue: WorkQueue[K], key: K, error: BaseException, *, priority: int = 0) -> float | None:
    """Queue a key whose work has failed, and return the delay in seconds.

    The delay is that of `RetryLater`, or else the backoff; at least the time that a response with `Retry-After`
    requests. Return None if the queue is shutting down.
    """
    after_s = _chosen(error)
    if after_s is None:
        return queue.add_rate_limited(key, priority=priority, at_least_s=_requested(error), cause=RETRY)
    if queue.shutting_down:
        return None
    # The reconciler has chosen the delay, so the backoff starts from its first delay after the next failure.
    queue.forget(key)
    queue.add_after(key, after_s, priority=priority, cause=RETRY)
    return after_s


def _chosen(error: BaseException) -> float | None:
    """Return the longest delay of the `RetryLater`s. An error without a delay next to them means the backoff."""
    delays = [each.after_s if isinstance(each, RetryLater) else None for each in _single(error)]
    chosen = [delay for delay in delays if delay is not None]
    return max(chosen) if chosen and len(chosen) == len(delays) else None


def _requested(error: BaseException) -> float:
    """Return the longest delay that servers request; 0 if there is none."""
    found = [_of_response(each) for each in _single(error)]
    return min(max(found, default=0.0), RETRY_AFTER_S_MAX)


def _of_response(error: BaseException) -> float:
    if isinstance(error, ApiError):
        return float(error.retry_after_s)
    # `raise RetryLater("…") from refused` explains a refusal; the server's delay still applies.
    if isinstance(error, RetryLater) and isinstance(error.__cause__, ApiError):
        return float(error.__cause__.retry_after_s)
    return 0.0


def _single(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group, at any depth; or the error itself."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for each in error.exceptions:
        yield from _single(each)
