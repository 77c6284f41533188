"""Lists in pages; each page is decoded on arrival.

Source: client-go tools/pager/pager.go; tools/cache/reflector.go `list` (1.36).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Generic, TypeVar

from sampan.client.errors import Expired, TransportError
from sampan.client.options import ListOptions
from sampan.client.watching.list_watch import ListWatch
from sampan.informer.metrics import InformerMetrics
from sampan.informer.ref import Ref
from sampan.informer.reflector.events import EventReader

T = TypeVar("T")

_SLICE: Final = 500
"""Objects that are decoded before other tasks may run."""


class PagedList(Generic[T]):
    """Lists all objects at a version.

    Only the versions "0" (any) and "" (the newest) are requested in pages: with another version, a paged request makes
    servers bypass their cache. If a server returns pages for "0", it has no cache, so all later lists are paged.
    """

    def __init__(
        self, list_watch: ListWatch, reader: EventReader[T], metrics: InformerMetrics, *, page_size: int
    ) -> None:
        self._list_watch = list_watch
        self._reader = reader
        self._metrics = metrics
        self._page_size = page_size
        self._pages_always = False

    async def read(self, resource_version: str) -> tuple[list[Ref[T]], str]:
        """Return all objects and their version. Raises `ApiError`, `TransportError`, `TransformError`."""
        self._metrics.lists += 1
        options = self._options(resource_version)
        refs: list[Ref[T]] = []
        version = ""
        pages = True
        while True:
            self._metrics.list_pages += 1
            try:
                page = await self._list_watch.list(options)
            except Expired:
                if not options.continue_token or not pages:
                    raise
                # The continue token has expired: request everything in one piece.
                refs, version, pages = [], "", False
                options = replace(self._options(resource_version), limit=0, resource_version_match="")
                continue
            await self._take_in(page.items, refs)
            # The version of the first page: all pages are of that state, and later pages may have no version.
            version = version or page.resource_version
            if not page.continue_token:
                return refs, version
            # A broken proxy or aggregated server would make this an endless loop.
            if page.continue_token == options.continue_token:
                raise TransportError("the server repeats the same page of a list", sent=True)
            if resource_version == "0":
                # A server with a watch cache returns everything for "0" and ignores the limit.
                self._pages_always = True
            options = replace(
                options, continue_token=page.continue_token, resource_version=None, resource_version_match=""
            )

    def _options(self, resource_version: str) -> ListOptions:
        at_some = resource_version not in ("", "0")
        limit = self._page_size if not at_some or self._pages_always else 0
        match = "NotOlderThan" if at_some and limit else ""
        return ListOptions(resource_version=resource_version or None, resource_version_match=match, limit=limit)

    async def _take_in(self, items: Sequence[bytes], refs: list[Ref[T]]) -> None:
        for begin in range(0, len(items), _SLICE):
            for item in items[begin : begin + _SLICE]:
                ref = self._reader.object(item)
                if ref is not None:
                    refs.append(ref)
            # Decoding a large page would block the loop for longer than a health check or lease renewal tolerates.
            await asyncio.sleep(0)
