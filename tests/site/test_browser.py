"""The site in a browser: accessible, without other hosts, on a phone, a tablet and a desk, light and dark, on paper.

Pictures of all these are in `build/site-screenshots`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import pytest
from playwright.sync_api import Page, Route
from scripts.site.places import ROOT

from sampan.server.dashboard.documentation import POLICY
from tests.accessibility import violations, violations_in_theme
from tests.site.browser import Chromium

PICTURES: Final = ROOT / "build" / "site-screenshots"
PAGES: Final[Mapping[str, str]] = {
    "front": "index.html",
    "front-zh": "zh-CN/index.html",
    "tutorial": "book/03-a-loop.html",
    "how-to": "nodes.html",
    "reference": "reference/sampan.operator.html",
    "reference-command": "reference/cli/up.html",
    "reference-kind": "reference/kinds/apps-v1-deployment.html",
    "reference-errors": "reference/errors.html",
    "charts": "benchmarks.html",
    "explanation": "reading/control-loop.html",
}
WIDTHS: Final = {390: 844, 820: 1180, 1440: 900}
THEMES: Final[Sequence[Literal["light", "dark"]]] = ("light", "dark")


def take_picture(page: Page, name: str) -> None:
    """Keep a picture of what the window shows."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_fits_each_window_in_both_themes(browser: Chromium, name: str) -> None:
    with browser.page(PAGES[name]) as page:
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls to the side"
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                take_picture(page, f"{name}-{width}-{theme}")
                assert violations_in_theme(page) == [], (width, theme)
    assert browser.refused == []


def test_the_menu_of_a_phone_is_accessible(browser: Chromium) -> None:
    with browser.page(PAGES["how-to"], width=390, height=844) as page:
        page.click(".menu-button")
        take_picture(page, "menu-390-light")
        assert page.get_attribute(".menu-button", "aria-expanded") == "true"
        assert violations(page) == []
        page.keyboard.press("Escape")
        assert not page.is_visible("#menu")


def test_the_chosen_theme_stays_on_the_next_page(browser: Chromium) -> None:
    with browser.page("index.html") as page:
        page.click(".theme-button")
        page.goto(browser.address + "nodes.html")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 22, 28)"


def test_the_language_switch_keeps_the_page(browser: Chromium) -> None:
    with browser.page("book/01-an-object-that-remembers.html") as page:
        page.click(".language")
        assert page.url.endswith("/zh-CN/book/01-an-object-that-remembers.html")
        page.click(".language")
        assert page.url.endswith(f"{browser.address.rpartition(':')[2]}book/01-an-object-that-remembers.html")


def test_a_copied_session_has_the_commands_only(browser: Chromium) -> None:
    with browser.page("index.html") as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.hover(".result .block")
        page.click(".result .copy")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied.splitlines()[0] == "make up"
        assert "NAME" not in copied
        assert "$ " not in copied


def test_paper_has_the_text_without_navigation(browser: Chromium, tmp_path: Path) -> None:
    with browser.page(PAGES["explanation"]) as page:
        page.emulate_media(media="print")
        for part in (".top", ".side", ".toc", ".bottom"):
            assert not page.is_visible(part), part
        assert page.is_visible("article h1")
        page.pdf(path=tmp_path / "page.pdf")
        assert (tmp_path / "page.pdf").stat().st_size > 10_000


def test_pages_and_their_search_work_under_the_policy_of_the_dashboard(browser: Chromium) -> None:
    name, policy = (each.decode() for each in POLICY)

    def route(request: Route) -> None:
        response = request.fetch()
        request.fulfill(response=response, headers={**response.headers, name: policy})

    context = browser.browser.new_context()
    context.route("**/*", route)
    page = context.new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    for path in PAGES.values():
        page.goto(browser.address + path)
    page.goto(browser.address)
    page.keyboard.press("/")
    page.keyboard.type("work queue")
    page.wait_for_selector("[role=option]")
    context.close()
    assert messages == []


def test_a_page_that_is_opened_as_a_file_can_search(browser: Chromium, built_file: str) -> None:
    context = browser.browser.new_context()
    page = context.new_page()
    page.goto(built_file)
    assert page.evaluate("sampanSearch('nodes')")[0] == "nodes.html"
    context.close()
