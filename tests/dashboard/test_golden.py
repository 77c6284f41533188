"""Ten pages look as in their golden pictures. A changed colour of one theme is found in the pictures of that theme."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.dashboard.browser import Browser
from tests.dashboard.golden import BLOCKS_MAX, PAGES, create_harbour, difference, picture
from tests.dashboard.server import DashboardServer


@pytest.fixture(scope="module", autouse=True)
def harbour(server: DashboardServer) -> None:
    create_harbour(server)


@pytest.fixture(scope="module")
def blank(chromium: Browser) -> Iterator[Page]:
    """Return a page in which pictures are compared."""
    with chromium.context() as context:
        yield context.new_page()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_looks_as_its_golden_picture(chromium: Browser, blank: Page, name: str) -> None:
    assert difference(blank, name, picture(chromium, blank, name)) <= BLOCKS_MAX


@pytest.mark.parametrize(("name", "changed"), [("list-light", False), ("list-dark", True), ("object-dark", True)])
def test_a_changed_colour_of_the_dark_theme_changes_the_dark_pictures_alone(
    chromium: Browser, blank: Page, name: str, changed: bool
) -> None:
    page = "document.documentElement.style.setProperty('--raised', 'light-dark(#f6f8f9, #3a1d25)')"
    assert (difference(blank, name, picture(chromium, blank, name, page)) > BLOCKS_MAX) is changed
