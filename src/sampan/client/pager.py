"""Long lists in pages. Source: client-go tools/pager/pager.go (1.36)."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from typing import Final

from sampan.client.errors import Expired
from sampan.client.list_watch import RawList
from sampan.client.object_head import object_head
from sampan.client.options import ListOptions

PAGE_SIZE: Final = 500

ListPage = Callable[[ListOptions], Awaitable[RawList]]
"""Gives one page: `ListWatch.list`, say."""


async def list_pages(
    list_page: ListPage, options: ListOptions, *, page_size: int = PAGE_SIZE
) -> AsyncGenerator[RawList, None]:
    """The pages of a list, all of one revision; `options.limit`, if said, is the size of a page.

    When the revision has expired on the way (410), the list is read again in one piece, and what it has that was not
    given yet follows: every object that is there all along is given exactly once, but not all in the state of one
    moment; use `list_all` to go on with a watch.
    Raises `ApiError` (`Expired` too, if it comes at the first page), `TransportError`.
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
    """The whole list, read in pages; its resourceVersion is that of all its items, so a watch can go on from it.

    When the revision has expired on the way, the whole list is read again in one piece. Raises as `list_pages` does.
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
    """The continue token says the revision already; to say it twice is an error."""
    return replace(options, continue_token=page.continue_token, resource_version=None, resource_version_match="")


def _name(item: bytes) -> tuple[str, str]:
    metadata = object_head(item).metadata
    return metadata.namespace, metadata.name


def _without(page: RawList, given: set[tuple[str, str]]) -> RawList:
    return replace(page, items=[item for item in page.items if _name(item) not in given])
