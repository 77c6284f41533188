"""`ResourceListWatch`: raw lists and raw watches of one resource over HTTP."""

import random
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sampan.client.options import ListOptions
from sampan.client.rest_client import JSON, RESTClient, resource_path
from sampan.client.watching.event_lines import EventLines
from sampan.client.watching.list_watch import RawEvent, RawList
from sampan.client.watching.raw_list import split_list
from sampan.resource import ResourceInfo

WATCH_TIMEOUT_S_MIN: Final = 300
"""Lower limit of the default timeout of a watch. The client picks 5 to 10 minutes at random, so that watches that begin
together do not end together.

Source: client-go tools/cache/reflector.go (1.36).
"""

IDLE_MARGIN_S: Final = 30.0
"""Extra time for a watch after the server should have ended it. A watch silent for longer has lost its connection."""


@dataclass(frozen=True, slots=True)
class ResourceListWatch:
    """`ListWatch` over HTTP. Its selectors apply in addition to those of the options."""

    rest: RESTClient
    info: ResourceInfo
    namespace: str = ""
    """Namespace of the objects. Empty: all namespaces."""
    label_selector: str = ""
    field_selector: str = ""
    list_accept: str = JSON
    accept: str = JSON

    async def list(self, options: ListOptions) -> RawList:
        """Return one page. Raises `ApiError`, `TransportError`."""
        query = self._narrowed(options).query()
        return split_list(await self.rest.call("GET", self._path, query=query, headers={"accept": self.list_accept}))

    async def watch(self, options: ListOptions) -> AsyncGenerator[Sequence[RawEvent], None]:
        """Yield events as `ListWatch.watch` describes. Closing the generator closes the connection."""
        timeout_s = options.timeout_seconds
        if timeout_s is None:
            timeout_s = random.randint(WATCH_TIMEOUT_S_MIN, 2 * WATCH_TIMEOUT_S_MIN)
        response = await self.rest.stream(
            self._path,
            query={"watch": "true", **self._narrowed(replace(options, timeout_seconds=timeout_s)).query()},
            accept=self.accept,
            idle_timeout_s=timeout_s + IDLE_MARGIN_S,
        )
        try:
            yield ()
            lines = EventLines()
            async for chunk in response.chunks():
                for batch in lines.feed(chunk):
                    yield batch
            for batch in lines.end():
                yield batch
        finally:
            await response.aclose()

    def __str__(self) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        selectors = _both(self.label_selector, self.field_selector)
        return f"{self.info.gvr.group_resource}{where}{f' with {selectors}' if selectors else ''}"

    @property
    def _path(self) -> str:
        return resource_path(self.info, namespace=self.namespace)

    def _narrowed(self, options: ListOptions) -> ListOptions:
        return replace(
            options,
            label_selector=_both(self.label_selector, options.label_selector),
            field_selector=_both(self.field_selector, options.field_selector),
        )


def _both(one: str, other: str) -> str:
    return ",".join(selector for selector in (one, other) if selector)
