"""Long lists in pages."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from sampan.client import ApiError, Expired, ListOptions, RawList, api_error, list_all, list_pages
from sampan.client.objects.head import object_head
from tests.client.scripted_transport import body

EXPIRED = api_error({"code": 410, "reason": "Expired"})


@dataclass
class Shelf:
    """Lists what is in it; `expires_at` are the continue tokens that it has forgotten."""

    names: Sequence[str] = ("a", "b", "c", "d", "e")
    expired: frozenset[str] = frozenset()
    requested: list[ListOptions] = field(default_factory=list)

    async def page(self, options: ListOptions) -> RawList:
        self.requested.append(options)
        if options.continue_token in self.expired:
            raise EXPIRED
        begin = int(options.continue_token or 0)
        end = begin + options.limit if options.limit else len(self.names)
        more = str(end) if end < len(self.names) else ""
        return RawList([body(name, 1) for name in self.names[begin:end]], "9" if options.limit else "20", more)


def names(page: RawList) -> list[str]:
    return [object_head(item).metadata.name for item in page.items]


async def pages(shelf: Shelf, options: ListOptions = ListOptions(), page_size: int = 2) -> list[list[str]]:
    return [names(page) async for page in list_pages(shelf.page, options, page_size=page_size)]


async def test_pages_hold_everything_once() -> None:
    assert await pages(Shelf()) == [["a", "b"], ["c", "d"], ["e"]]


async def test_the_options_limit_is_the_size_of_a_page() -> None:
    assert await pages(Shelf(), ListOptions(limit=4)) == [["a", "b", "c", "d"], ["e"]]


async def test_a_continue_token_goes_without_the_version() -> None:
    shelf = Shelf()
    await pages(shelf, ListOptions(resource_version="5", resource_version_match="Exact", label_selector="x=y"))
    assert [(o.resource_version, o.resource_version_match, o.continue_token) for o in shelf.requested] == [
        ("5", "Exact", ""),
        (None, "", "2"),
        (None, "", "4"),
    ]
    assert {options.label_selector for options in shelf.requested} == {"x=y"}


async def test_when_a_page_has_expired_the_rest_comes_from_a_whole_list() -> None:
    shelf = Shelf(expired=frozenset({"4"}))
    options = ListOptions(resource_version="5")
    assert await pages(shelf, options) == [["a", "b"], ["c", "d"], ["e"]]
    assert shelf.requested[-1] == options


async def test_list_all_is_of_one_version() -> None:
    found = await list_all(Shelf().page, ListOptions(), page_size=2)
    assert (names(found), found.resource_version) == (["a", "b", "c", "d", "e"], "9")


async def test_list_all_begins_again_in_one_piece_when_a_page_has_expired() -> None:
    found = await list_all(Shelf(expired=frozenset({"4"})).page, ListOptions(), page_size=2)
    assert (names(found), found.resource_version) == (["a", "b", "c", "d", "e"], "20")


async def test_expired_at_the_first_page_is_the_callers_to_know() -> None:
    shelf = Shelf(expired=frozenset({"", "2"}))
    for options in (ListOptions(), ListOptions(continue_token="2")):
        with pytest.raises(Expired):
            await pages(shelf, options)
        with pytest.raises(Expired):
            await list_all(shelf.page, options)


async def test_other_errors_pass() -> None:
    async def page(_: ListOptions) -> RawList:
        raise api_error({"code": 500})

    with pytest.raises(ApiError):
        await list_all(page, ListOptions())
