"""10,000 simulated Pods: pages, a constant number of nodes, filters, and 1,000 events a second.

Times are measured by `make bench ARGS=--dashboard`.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.big_list import PATH, BigList
from tests.dashboard.browser import Browser
from tests.dashboard.measures import (
    filter_ms,
    heap_bytes,
    scroll_frames,
    transfer_bytes,
    typing_delays,
)
from tests.dashboard.server import DashboardServer, picture_folder

COUNT = 10_000
KIB = 1000


@pytest.fixture
def pods(server: DashboardServer) -> BigList:
    pods = BigList(COUNT)
    server.shell.replaced[PATH] = pods.response
    return pods


def wait_for_all(page: Page) -> None:
    expect(page.get_by_text("10,000 objects", exact=True)).to_be_visible(timeout=30_000)


def test_the_page_is_small(built: None) -> None:
    first, everything = transfer_bytes()
    assert first <= 80 * KIB
    assert everything <= 400 * KIB


def test_a_large_list_is_read_in_pages(pods: BigList, chromium: Browser) -> None:
    with chromium.page("list/core/v1/pods") as page:
        wait_for_all(page)
        page.screenshot(path=picture_folder() / "list-10000-1440-light.png")
        assert page.evaluate("document.querySelectorAll('*').length") < 2000
        assert page.get_by_role("grid").get_attribute("aria-rowcount") == "10001"
    assert pods.pages == [500, *([1000] * 10)]


def test_ten_thousand_rows_are_filtered(pods: BigList, chromium: Browser) -> None:
    with chromium.page("list/core/v1/pods") as page:
        wait_for_all(page)
        for text in ("99", "status:crash", "age>10d", "/7{2}$/", "col:Restarts>3"):
            filter_ms(page, text)
        expect(page.get_by_text(re.compile(r"\d of 10,000"))).to_be_visible()


def test_a_list_that_is_calculated_in_slices_shows_all_changes(server: DashboardServer, chromium: Browser) -> None:
    pods = BigList(40_000, events_per_second=50)
    server.shell.replaced[PATH] = pods.response
    with chromium.page("list/core/v1/pods?sort=Status") as page:
        expect(page.get_by_text("40,000 objects", exact=True)).to_be_visible(timeout=60_000)
        first = page.locator('.grid [role=row][aria-rowindex="2"]')
        expect(first).to_contain_text("CrashLoopBackOff")
        page.locator("#filter").fill("status:running9")
        expect(page.get_by_text(re.compile(r"^[1-9]\d* of 40,000$"))).to_be_visible(timeout=60_000)


def test_scrolling_keeps_the_number_of_nodes_and_the_heap_small(pods: BigList, chromium: Browser) -> None:
    with chromium.page("list/core/v1/pods") as page:
        wait_for_all(page)
        assert scroll_frames(page)["nodes"] < 2000
        assert heap_bytes(page) < 60_000_000


def test_events_do_not_fill_the_heap(server: DashboardServer, chromium: Browser) -> None:
    pods = BigList(COUNT, events_per_second=1000)
    server.shell.replaced[PATH] = pods.response
    with chromium.page("list/core/v1/pods") as page:
        wait_for_all(page)
        before, sent = heap_bytes(page), pods.sent
        typing_delays(page, 8)
        assert pods.sent > sent
        assert heap_bytes(page) - before < 10_000_000


def test_a_filter_that_could_take_long_is_refused_in_words(pods: BigList, chromium: Browser) -> None:
    with chromium.page("list/core/v1/pods?q=/(a%2B)%2B$/") as page:
        expect(page.get_by_role("alert")).to_contain_text("This expression could take too long")
        wait_for_all(page)
