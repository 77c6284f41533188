"""`follow`: a watch that outlives its connections, on raw events."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from sampan.client.backoff import Backoff
from sampan.client.errors import ApiError, ServerError, TooManyRequests, TransportError
from sampan.client.list_watch import ListWatch, RawEvent, RawList
from sampan.client.options import ListOptions
from sampan.client.pager import list_all
from sampan.client.raw_events import closing, resource_version_of, until_error

WATCH_BACKOFF: Final = Backoff(0.8, factor=2.0, jitter=1.0, cap_s=30.0)
"""Source: client-go tools/cache/reflector.go (1.36)."""
BACKOFF_RESET_S: Final = 120.0
"""After so long without a failure the next one is waited for as if it were the first."""
RESTART_INTERVAL_S: Final = 1.0
"""A server that ends each watch at once is asked no more often. Source: client-go tools/watch/retrywatcher.go."""

_log = logging.getLogger(__name__)


def is_transient(error: ApiError | TransportError) -> bool:
    """Whether the same request may go well later: no answer, 5xx, 429."""
    return isinstance(error, TransportError | ServerError | TooManyRequests)


@dataclass
class Retries:
    """Waits between attempts: longer after each failure, from the start again after two quiet minutes."""

    backoff: Backoff = WATCH_BACKOFF
    _retry_at: float = field(default=float("-inf"), init=False)

    def __post_init__(self) -> None:
        self._delays = self.backoff.delays()

    async def wait(self, error: ApiError | TransportError) -> None:
        """Wait after a failure, at least as long as the server asked for.

        Raises `error` itself when it is not transient or when no attempt is left.
        """
        if not is_transient(error):
            raise error
        now = asyncio.get_running_loop().time()
        if now - self._retry_at > BACKOFF_RESET_S:
            self._delays = self.backoff.delays()
        delay = next(self._delays, None)
        if delay is None:
            raise error
        delay = max(delay, error.retry_after_s if isinstance(error, ApiError) else 0)
        self._retry_at = now + delay
        _log.info("trying again in %.1f s after: %s", delay, error)
        await asyncio.sleep(delay)


async def list_patiently(source: ListWatch, options: ListOptions, retries: Retries) -> RawList:
    """The whole list, however often a page of it has to be asked for. Raises `ApiError` of 4xx (but 429)."""

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
    """All changes since a resourceVersion, over as many watches as it takes: ADDED, MODIFIED, DELETED, in batches.

    Without a resourceVersion (or with "0") it lists first, gives each object as ADDED, and goes on from the list: a
    watch from there would give them in no order from which it could be resumed.
    Bookmarks are asked for and only move the resourceVersion on.

    Guarantees: every event after the resourceVersion once and in order, or an error.
    Raises: `Expired` when the server no longer knows the resourceVersion: list again. `ApiError` of 4xx (but 429).
    Lost connections, 429 and 5xx are retried with back-off, for ever if `backoff` has no end.
    Source: client-go tools/watch/retrywatcher.go (1.36).
    """
    retries = Retries(backoff)
    position = _Position(options.resource_version or "")
    if position.resource_version in ("", "0"):
        found = await list_patiently(source, replace(options, timeout_seconds=None), retries)
        position.resource_version = found.resource_version
        if found.items:
            yield [RawEvent("ADDED", msgspec.Raw(item)) for item in found.items]
    while True:
        began = asyncio.get_running_loop().time()
        try:
            async with aclosing(_watch(source, options, position)) as batches:
                async for batch in batches:
                    yield batch
        except (ApiError, TransportError) as error:
            await retries.wait(error)
        else:
            await asyncio.sleep(max(0.0, began + RESTART_INTERVAL_S - asyncio.get_running_loop().time()))


@dataclass
class _Position:
    resource_version: str


async def _watch(
    source: ListWatch, options: ListOptions, position: _Position
) -> AsyncGenerator[Sequence[RawEvent], None]:
    """One watch from the position, which moves on with what is given. ERROR events are raised."""
    watch_options = replace(
        options,
        resource_version=position.resource_version,
        resource_version_match="",
        allow_watch_bookmarks=True,
        limit=0,
        continue_token="",
        send_initial_events=None,
    )
    async with closing(source.watch(watch_options)) as events:
        async for batch in events:
            good, error = until_error(batch)
            if good:
                position.resource_version = resource_version_of(good[-1])
            changes = [event for event in good if event.type != "BOOKMARK"]
            if changes:
                yield changes
            if error is not None:
                raise error
