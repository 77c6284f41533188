"""`follow`: a stream of raw events that resumes over as many watches as needed."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final

import msgspec

from sampan.client.errors import ApiError, ServerError, TooManyRequests, TransportError
from sampan.client.options import ListOptions
from sampan.client.retries.backoff import Backoff
from sampan.client.retries.delay import RetryDelay
from sampan.client.watching.event_stream import EventStream
from sampan.client.watching.idle_limit import IdleLimit
from sampan.client.watching.list_watch import ListWatch, RawEvent, RawList
from sampan.client.watching.pager import list_all
from sampan.client.watching.raw_events import resource_version_of, until_error

WATCH_BACKOFF: Final = Backoff(0.8, factor=2.0, jitter=1.0, cap_s=30.0)
"""Backoff between attempts. Source: client-go tools/cache/reflector.go (1.36)."""
RESTART_INTERVAL_S: Final = 1.0
"""Minimum interval between starts of watches, for a server that ends each watch immediately.

Source: client-go tools/watch/retrywatcher.go (1.36).
"""

_log = logging.getLogger(__name__)


def is_transient(error: ApiError | TransportError) -> bool:
    """Return True if a retry may succeed: no response, 5xx or 429."""
    return isinstance(error, TransportError | ServerError | TooManyRequests)


class Retries:
    """Retries of lists and watches of a resource: waits as `RetryDelay` requires, and logs each failure."""

    def __init__(self, source: ListWatch, backoff: Backoff = WATCH_BACKOFF) -> None:
        self._source = source
        self._retry_delay = RetryDelay(backoff)

    def succeeded(self) -> None:
        """Reset the backoff."""
        self._retry_delay.succeeded()

    async def wait(self, error: ApiError | TransportError) -> None:
        """Wait after a failure, at least as long as the server requested.

        Raises `error` if it is not transient or if no attempt is left.
        """
        if not is_transient(error):
            raise error
        delay = self._retry_delay.next_delay_s(error.retry_after_s if isinstance(error, ApiError) else 0)
        if delay is None:
            raise error
        _log.info("cannot list or watch %s: %s; retrying in %.1f s", self._source, error, delay)
        await asyncio.sleep(delay)


async def list_with_retries(source: ListWatch, options: ListOptions, retries: Retries) -> RawList:
    """Return the whole list and retry transient failures of its pages. Raises `ApiError` for 4xx other than 429."""

    async def page(page_options: ListOptions) -> RawList:
        while True:
            try:
                return await source.list(page_options)
            except (ApiError, TransportError) as error:
                await retries.wait(error)

    return await list_all(page, options)


async def follow(
    source: ListWatch, options: ListOptions, *, backoff: Backoff = WATCH_BACKOFF
) -> AsyncGenerator[Sequence[RawEvent], None]:
    """Yield all changes since a resourceVersion in batches of ADDED, MODIFIED and DELETED, over several watches.

    Without a resourceVersion (or with "0"), the objects of a list come first, as ADDED. A watch without a list could
    not be resumed: its initial events are not ordered by resourceVersion. Bookmarks only advance the resourceVersion.

    Lost connections, 429 and 5xx are retried with backoff, without end if `backoff` has none. A watch that is silent
    for longer than `IdleLimit` allows is replaced by a new one.

    **Guarantees**: every event after the resourceVersion once and in order, or an error.

    **Raises**: `Expired` if the server no longer has the resourceVersion: list again. `ApiError` for 4xx other than
    429.

    Source: client-go tools/watch/retrywatcher.go (1.36).
    """
    retries = Retries(source, backoff)
    position = options.resource_version or ""
    if position in ("", "0"):
        found = await list_with_retries(source, replace(options, timeout_seconds=None), retries)
        position = found.resource_version
        if found.items:
            yield [RawEvent("ADDED", msgspec.Raw(item)) for item in found.items]
    watches = _Watches(source, options, position)
    while True:
        watches.accepted = False
        began = asyncio.get_running_loop().time()
        try:
            async with aclosing(watches.next()) as batches:
                async for batch in batches:
                    yield batch
        except (ApiError, TransportError) as error:
            if watches.accepted and asyncio.get_running_loop().time() - began >= RESTART_INTERVAL_S:
                retries.succeeded()
            await retries.wait(error)
        else:
            retries.succeeded()
            await asyncio.sleep(max(0.0, began + RESTART_INTERVAL_S - asyncio.get_running_loop().time()))


class _Watches:
    """Successive watches. Each resumes where the last one ended."""

    def __init__(self, source: ListWatch, options: ListOptions, position: str) -> None:
        self.accepted = False
        """True if the server has accepted the current watch."""
        self._source = source
        self._options = replace(
            options,
            resource_version_match="",
            allow_watch_bookmarks=True,
            limit=0,
            continue_token="",
            send_initial_events=None,
        )
        self._position = position
        self._idle = IdleLimit()

    async def next(self) -> AsyncGenerator[Sequence[RawEvent], None]:
        """Yield the changes of the next watch. Raises the error that ends it, such as that of an ERROR event."""
        loop = asyncio.get_running_loop()
        stream = EventStream(self._source.watch(replace(self._options, resource_version=self._position)))
        try:
            while (batch := await stream.next(loop.time() + self._idle.seconds)) is not None:
                self.accepted = True
                self._idle.observe(batch)
                good, error = until_error(batch)
                if good:
                    self._position = resource_version_of(good[-1])
                changes = [event for event in good if event.type != "BOOKMARK"]
                if changes:
                    yield changes
                if error is not None:
                    raise error
        except TimeoutError:
            _log.info(
                "watch of %s timed out after %g s without events; starting another one",
                self._source,
                self._idle.seconds,
            )
            self._idle.expired()
        finally:
            await stream.aclose()
