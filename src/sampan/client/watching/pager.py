"""Long lists in pages. Source: client-go tools/pager/pager.go (1.36)."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import Final

from sampan.client.errors import Expired
from sampan.client.objects.head import object_head
from sampan.client.options import ListOptions
from sampan.client.watching.list_watch import RawList

PAGE_SIZE: Final = 500

ListPage = Callable[[ListOptions], Awaitable[RawList]]
"""Function that returns one page, such as `ListWatch.list`."""


async def list_pages(
    list_page: ListPage, options: ListOptions, *, page_size: int = PAGE_SIZE
) -> AsyncGenerator[RawList, None]:
    """Yield the pages of a list, all at one revision. `options.limit`, if set, is the size of a page.

    If the revision expires in between (410), the remaining objects come from a new full list. Every object that exists
    during the whole call is yielded exactly once, but pages may then be of two revisions. To continue with a watch, use
    `list_all`.

    Raises `ApiError` (`Expired` only for the first page), `TransportError`.
    """
    page_options = replace(options, limit=options.limit or page_size)
    given: set[tuple[str, str]] = set()
    while True:
        try:
            page = await list_page(page_options)
        except Expired:
            if page_options.continue_token == options.continue_token:
                raise
            yield _without(await list_page(replace(options, limit=0)), given)
            return
        yield page
        if not page.continue_token:
            return
        given.update(_name(item) for item in page.items)
        page_options = _next(page_options, page)


async def list_all(list_page: ListPage, options: ListOptions, *, page_size: int = PAGE_SIZE) -> RawList:
    """Return the whole list, read in pages at one revision. A watch can start from its resourceVersion.

    If the revision expires in between (410), the whole list is read again in one request. Raises as `list_pages` does.
    """
    page_options = replace(options, limit=options.limit or page_size)
    items: list[bytes] = []
    while True:
        try:
            page = await list_page(page_options)
        except Expired:
            if page_options.continue_token == options.continue_token:
                raise
            return await list_page(replace(options, limit=0))
        items += page.items
        if not page.continue_token:
            return RawList(items, page.resource_version)
        page_options = _next(page_options, page)


def _next(options: ListOptions, page: RawList) -> ListOptions:
    """Return the options for the next page. The token implies the revision; the server refuses both together."""
    return replace(options, continue_token=page.continue_token, resource_version=None, resource_version_match="")


def _name(item: bytes) -> tuple[str, str]:
    metadata = object_head(item).metadata
    return metadata.namespace, metadata.name


def _without(page: RawList, given: set[tuple[str, str]]) -> RawList:
    return replace(page, items=[item for item in page.items if _name(item) not in given])
