"""`ListWatch`: the seam between informers and the API: raw lists and raw watch events, nothing decoded."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from sampan.client.options import ListOptions


class RawEvent(msgspec.Struct, frozen=True):
    """One event of a watch: `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; `object` its JSON."""

    type: str
    object: msgspec.Raw


@dataclass(frozen=True, slots=True)
class RawList:
    """A page of a list (or all of it): the JSON of each item, in the server's order."""

    items: Sequence[bytes]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


class ListWatch(Protocol):
    """Lists and watches one resource (perhaps in one namespace, perhaps with selectors: they are its own).

    `str` of it names the resource in log lines: "pods in namespace a".
    """

    async def list(self, options: ListOptions) -> RawList:
        """One page. Raises `ApiError`, `TransportError`."""
        ...

    def watch(self, options: ListOptions) -> AsyncIterator[Sequence[RawEvent]]:
        """The events, in batches as they come; ends when the server ends the watch.

        An empty batch may come first: the server has accepted the watch.

        Raises `ApiError` when the server refuses; `TransportError` when the stream breaks off, falls silent beyond
        the idle time-out, or holds what is not an event. ERROR events are handed on as events.
        """
        ...
