"""`ListWatch`: interface between informers and the API. Objects of lists and watch events are not decoded."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from sampan.client.options import ListOptions


class RawEvent(msgspec.Struct, frozen=True):
    """Event of a watch. `type` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; `object` is its JSON."""

    type: str
    object: msgspec.Raw


@dataclass(frozen=True, slots=True)
class RawList:
    """Page of a list, or the whole list: the JSON of each item, in the server's order."""

    items: Sequence[bytes]
    resource_version: str
    continue_token: str = ""
    remaining: int | None = None


class ListWatch(Protocol):
    """Lists and watches one resource, perhaps limited to a namespace and to selectors.

    `str` returns the name of the resource for log lines: "pods in namespace a".
    """

    async def list(self, options: ListOptions) -> RawList:
        """Return one page. Raises `ApiError`, `TransportError`."""
        ...

    def watch(self, options: ListOptions) -> AsyncIterator[Sequence[RawEvent]]:
        """Yield events in batches as they arrive, until the server ends the watch.

        The first batch may be empty; it means that the server has accepted the watch. ERROR events are yielded like
        other events.

        Raises `ApiError` if the server refuses the watch. Raises `TransportError` if the stream breaks, exceeds the
        idle timeout or contains a malformed event.
        """
        ...
