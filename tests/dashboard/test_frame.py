"""The frame: login, menu, palette, keys, themes, languages, connection."""

import re

import pytest
from playwright.sync_api import Page, expect

from sampan.server.request import UserInfo
from tests.dashboard.browser import Browser
from tests.dashboard.samples import config_map, crd
from tests.dashboard.server import DashboardServer, picture_folder

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
VIEWER = UserInfo("viewer", groups=("system:authenticated",))


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    server.create(CONFIG_MAPS, config_map("first"), config_map("second"))


def log_in(page: Page, token: str) -> None:
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_role("button", name="Log in", exact=True).click()


def test_a_token_logs_in_and_the_page_of_the_address_appears(server: DashboardServer, chromium: Browser) -> None:
    server.shell.user = None
    server.shell.tokens["secret-token"] = VIEWER
    with chromium.page("list/core/v1/configmaps?q=first") as page:
        log_in(page, "secret-token")
        expect(page.get_by_role("heading", name="ConfigMaps", level=1)).to_be_visible()
        assert page.url.endswith("list/core/v1/configmaps?q=first")
        stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
        assert "secret-token" not in stored


def test_a_wrong_token_is_reported_and_stays_reported(server: DashboardServer, chromium: Browser) -> None:
    server.shell.user = None
    with chromium.page() as page:
        log_in(page, "wrong")
        expect(page.get_by_role("alert")).to_contain_text("The token is not valid here")


def test_a_one_time_link_logs_in_and_leaves_the_address(server: DashboardServer, chromium: Browser) -> None:
    server.shell.user = None
    server.shell.tokens["code-of-the-link"] = VIEWER
    with chromium.page("login#code-of-the-link") as page:
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        assert page.url == f"{server.address}/dashboard/"


def test_an_anonymous_visitor_sees_the_login_and_sends_nothing_else(server: DashboardServer, chromium: Browser) -> None:
    server.shell.user = None
    server.shell.requests.clear()
    with chromium.page("list/core/v1/secrets") as page:
        expect(page.get_by_role("heading", name="Log in to the cluster")).to_be_visible()
        expect(page.get_by_role("link", name="Log in with the identity provider")).to_be_visible()
        expect(page.get_by_role("navigation")).to_have_count(0)
    assert server.shell.requests == []


def test_an_ended_session_returns_to_the_same_page_after_a_login(server: DashboardServer, chromium: Browser) -> None:
    server.shell.tokens["again"] = VIEWER
    with chromium.page("list/core/v1/configmaps?q=second") as page:
        expect(page.get_by_role("row", name="second")).to_be_visible()
        server.shell.user = None
        page.keyboard.press("/")
        page.keyboard.type("app=web")
        expect(page.get_by_text("The session has ended.")).to_be_visible()
        log_in(page, "again")
        expect(page.get_by_role("heading", name="ConfigMaps", level=1)).to_be_visible()


def test_a_new_crd_appears_in_the_menu_without_a_reload(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page() as page:
        menu = page.get_by_role("navigation")
        expect(menu.get_by_role("link", name="ConfigMaps")).to_be_visible()
        server.create(CRDS, crd("rafts", "Raft"))
        expect(menu.get_by_role("link", name="Rafts")).to_be_visible()
        server.delete(f"{CRDS}/rafts.harbour.example.com")
        expect(menu.get_by_role("link", name="Rafts")).to_have_count(0)


def test_the_palette_opens_an_object_by_kind_and_part_of_its_name(chromium: Browser) -> None:
    with chromium.page() as page:
        expect(page.get_by_role("link", name="ConfigMaps").first).to_be_visible()
        page.keyboard.press("Control+k")
        page.keyboard.type("cm sec")
        expect(page.get_by_role("option", name="second")).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="second")).to_be_visible()


def test_the_palette_finds_objects_of_all_kinds_by_a_part_of_their_names(
    server: DashboardServer, chromium: Browser
) -> None:
    group = {
        "group": "",
        "version": "v1",
        "resource": "configmaps",
        "objects": [{"namespace": "default", "name": "second"}],
    }
    status = {"groups": [{**group, "more": 2}, {**group, "resource": "unknown", "more": 0}], "incomplete": False}
    server.shell.features = ["search"]
    server.shell.replaced["/apis/sampan.dev/v1alpha1/selfobjectsearches"] = {"status": status}
    with chromium.page() as page:
        expect(page.get_by_role("link", name="ConfigMaps").first).to_be_visible()
        page.keyboard.press("Control+k")
        page.keyboard.type("eco")
        expect(page.get_by_role("option", name="2 more with this name")).to_be_visible()
        page.get_by_role("option", name="second ConfigMap").click()
        expect(page.get_by_role("heading", name="second")).to_be_visible()


PRESS = """(keys) => {
  for (const key of keys) {
    const options = { key, ctrlKey: key === "k", bubbles: true, cancelable: true };
    document.body.dispatchEvent(new KeyboardEvent("keydown", options));
  }
}"""
"""Presses keys before the page can draw anything: `k` with Ctrl."""


def test_keys_that_are_pressed_before_the_palette_is_drawn_are_its_text(chromium: Browser) -> None:
    with chromium.page() as page:
        expect(page.get_by_role("link", name="ConfigMaps").first).to_be_visible()
        page.evaluate(PRESS, ["k", "c", "m", " ", "s", "e"])
        box = page.get_by_role("combobox")
        expect(box).to_be_focused()
        expect(box).to_have_value("cm se")
        page.keyboard.type("c")
        expect(page.get_by_role("option", name="second")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("Control+k")
        expect(box).to_have_value("")


def test_keys_move_open_and_go_back(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default") as page:
        expect(page.get_by_role("row", name="first")).to_be_visible()
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="second")).to_be_visible()
        page.keyboard.press("y")
        expect(page.get_by_role("tab", name="YAML")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Escape")
        expect(page.get_by_role("grid")).to_be_visible()
        page.keyboard.press("/")
        page.keyboard.type("jj")
        expect(page.get_by_text("Nothing matches the filter")).to_be_visible()


def test_a_key_can_be_changed(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps") as page:
        expect(page.get_by_role("grid")).to_be_visible()
        page.keyboard.press("?")
        change = page.get_by_role("button", name="Change the key of: Filter the list")
        change.click()
        expect(change).to_have_text("Press a key")
        page.keyboard.press("f")
        expect(change).to_have_text("f")
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
        page.keyboard.press("f")
        expect(page.get_by_label("Filter", exact=True)).to_be_focused()


def test_the_help_leads_to_the_documentation(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps") as page:
        expect(page.get_by_role("grid")).to_be_visible()
        page.keyboard.press("?")
        link = page.get_by_role("link", name="Documentation of Sampan")
        expect(link).to_have_attribute("href", "/dashboard/docs/")
        page.screenshot(path=picture_folder() / "help.png")


def background(page: Page) -> str:
    colour: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


def test_a_theme_is_chosen_and_set_before_the_first_paint(chromium: Browser) -> None:
    with chromium.page() as page:
        page.get_by_role("button", name="system:admin").click()
        page.get_by_role("radio", name="Dark").check()
        dark = background(page)
        assert dark == "rgb(15, 21, 27)"
        page.route("**/main-*.js", lambda route: route.abort())
        page.reload(wait_until="commit")
        page.wait_for_selector("#app", state="attached")
        assert background(page) == dark


def test_the_language_switches_without_a_reload(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps") as page:
        expect(page.get_by_role("grid")).to_be_visible()
        page.evaluate("window.sameDocument = true")
        page.get_by_role("button", name="system:admin").click()
        page.get_by_role("radio", name="简体中文").check()
        expect(page.get_by_text("所有命名空间").first).to_be_visible()
        assert page.evaluate("window.sameDocument && document.documentElement.lang") == "zh-CN"


def test_a_lost_server_is_reported_and_found_again(server: DashboardServer, chromium: Browser) -> None:
    reconnecting = re.compile("Reconnecting for")
    with chromium.page("list/core/v1/configmaps") as page:
        expect(page.get_by_role("row", name="first")).to_be_visible()
        with server.shell.disconnected():
            expect(page.get_by_text(reconnecting)).to_be_visible()
        expect(page.get_by_text(reconnecting)).to_have_count(0)
        server.create(CONFIG_MAPS, config_map("after"))
        expect(page.get_by_role("row", name="after")).to_be_visible()
        server.delete(f"{CONFIG_MAPS}/after")


def test_a_copied_address_shows_the_same_in_a_fresh_browser(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps") as page:
        page.get_by_label("Filter", exact=True).fill("first")
        expect(page).to_have_url(re.compile("q=first"))
        page.get_by_role("button", name="Sort by Name", exact=True).click()
        expect(page).to_have_url(re.compile("q=first&sort=Name"))
        expect(page.get_by_role("row")).to_have_count(2)
        address = page.url.partition("/dashboard/")[2]
    with chromium.page(address) as page:
        expect(page.get_by_role("row")).to_have_count(2)
        expect(page.get_by_label("Filter", exact=True)).to_have_value("first")
        expect(page.get_by_role("columnheader", name="Sort by Name", exact=True)).to_have_attribute(
            "aria-sort", "ascending"
        )
