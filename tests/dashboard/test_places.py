"""The history of the browser: Back leads to the place before, not through filters."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.samples import config_map
from tests.dashboard.server import DashboardServer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
LIST = "list/core/v1/configmaps?ns=default"
OBJECT = "object/core/v1/configmaps/default/one"


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    server.create(CONFIG_MAPS, config_map("one"), config_map("two"))


def expect_tab(page: Page, name: str) -> None:
    expect(page.get_by_role("tab", selected=True)).to_have_text(name)


def test_back_leads_to_the_tab_before(chromium: Browser) -> None:
    with chromium.page(LIST) as page:
        page.get_by_role("link", name="one").click()
        page.get_by_role("tab", name="YAML").click()
        expect_tab(page, "YAML")
        page.get_by_role("tab", name="History").click()
        expect_tab(page, "History")
        page.go_back()
        expect_tab(page, "YAML")
        page.go_back()
        expect_tab(page, "Overview")
        page.go_forward()
        expect_tab(page, "YAML")
        page.go_back()
        page.go_back()
        expect(page.get_by_role("heading", level=1, name="ConfigMaps")).to_be_visible()


def test_back_from_a_tab_that_a_key_has_opened_leads_to_the_tab_before(chromium: Browser) -> None:
    with chromium.page(OBJECT) as page:
        expect_tab(page, "Overview")
        page.keyboard.press("y")
        expect_tab(page, "YAML")
        expect(page.get_by_role("tabpanel")).to_be_focused()
        page.go_back()
        expect_tab(page, "Overview")


def test_a_filter_is_no_step_back(chromium: Browser) -> None:
    with chromium.page(OBJECT) as page:
        page.locator(".crumb").click()
        box = page.locator("#filter")
        for text in ("o", "on", "one"):
            box.fill(text)
            expect(page).to_have_url(re.compile(rf"q={text}$"))
        page.go_back()
        expect(page.get_by_role("heading", level=1, name="one")).to_be_visible()


def test_back_restores_the_text_of_a_filter_that_has_the_focus(chromium: Browser) -> None:
    with chromium.page(f"{LIST}&q=one") as page:
        box = page.locator("#filter")
        expect(box).to_have_value("one")
        page.get_by_role("button", name="Namespaces: default").click()
        page.get_by_role("checkbox", name="All namespaces").check()
        box.fill("two")
        expect(page).to_have_url(re.compile("q=two"))
        page.go_back()
        expect(page).to_have_url(re.compile("q=one"))
        expect(box).to_have_value("one")


def test_a_tab_is_as_the_user_has_left_it(chromium: Browser) -> None:
    with chromium.page(f"{OBJECT}?tab=relations") as page:
        page.get_by_role("radio", name="Graph").check(force=True)
        page.locator("#filter").fill("kube")
        expect(page).to_have_url(re.compile("view=graph&q=kube"))
        page.get_by_role("tab", name="History").click()
        expect(page).to_have_url(re.compile("tab=history$"))
        page.get_by_role("tab", name="Relations").click()
        expect(page).to_have_url(re.compile("view=graph&q=kube"))


def test_the_key_of_the_editor_opens_it_with_the_focus(chromium: Browser) -> None:
    with chromium.page(OBJECT) as page:
        expect_tab(page, "Overview")
        page.keyboard.press("e")
        text = page.get_by_role("textbox", name="one as YAML")
        expect(text).to_be_focused()
        page.keyboard.press("Control+End")
        page.keyboard.type("# typed")
        expect(text).to_contain_text("# typed")
