"""Drafts: an edit survives a reload of the tab, except the values of Secrets."""

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.editing import editor, line, replace_in_line
from tests.dashboard.samples import config_map
from tests.dashboard.server import DashboardServer
from tests.dashboard.test_pages import check_at_all_widths

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
STORAGE = "JSON.stringify([{...localStorage}, {...sessionStorage}])"


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    server.create(CONFIG_MAPS, *(config_map(name) for name in ("kept", "dropped", "old", "leaving")))
    secret = {"metadata": {"name": "password"}, "data": {"key": "aHVudGVyMg=="}}
    server.create("/api/v1/namespaces/default/secrets", secret)


def crash(page: Page) -> None:
    """Edit an object, and leave the page without saving."""
    replace_in_line(page, "key: value", "key: written # with a comment")
    expect(page.get_by_text("The server accepts this")).to_be_visible()
    page.goto("about:blank")
    page.go_back()
    expect(page.get_by_role("region", name="Earlier edit")).to_be_visible()
    expect(line(page, "key: value")).to_be_visible()


def test_an_edit_is_restored_after_a_reload(chromium: Browser) -> None:
    with chromium.page("edit/core/v1/configmaps/default/kept") as page:
        crash(page)
        check_at_all_widths(page, "edit-draft")
        page.get_by_role("button", name="Restore").click()
        expect(line(page, "key: written # with a comment")).to_be_visible()
        expect(page.get_by_text("The server accepts this")).to_be_visible()


def test_a_discarded_edit_does_not_come_back(chromium: Browser) -> None:
    with chromium.page("edit/core/v1/configmaps/default/dropped") as page:
        crash(page)
        page.get_by_role("button", name="Discard it").click()
        page.reload()
        expect(line(page, "key: value")).to_be_visible()
        expect(page.get_by_role("region", name="Earlier edit")).to_have_count(0)


def test_a_restored_edit_names_a_change_of_the_object_and_keeps_it(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("edit/core/v1/configmaps/default/old") as page:
        crash(page)
        server.patch(f"{CONFIG_MAPS}/old", {"data": {"other": "new"}})
        expect(page.get_by_text("The object has changed since.")).to_be_visible()
        page.get_by_role("button", name="Restore").click()
        page.get_by_role("button", name="Review and save").click()
        page.get_by_text("Take over").click()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert server.http.get(f"{CONFIG_MAPS}/old").json()["data"] == {"key": "written", "other": "new"}


def test_the_values_of_a_secret_are_masked_and_never_kept(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("edit/core/v1/secrets/default/password") as page:
        expect(line(page, "key: ••••••••")).to_be_visible()
        assert "aHVudGVyMg" not in page.content()
        line(page, "key: ••••••••").click()
        page.keyboard.press("End")
        page.keyboard.insert_text("\n  new: c2VjcmV0")
        expect(page.get_by_text("This edit is not kept")).to_be_visible()
        expect(page.get_by_text("The server accepts this")).to_be_visible()
        stored = page.evaluate(STORAGE)
        assert "c2VjcmV0" not in stored
        assert "Secret" not in stored
        page.get_by_role("button", name="Review and save").click()
        expect(page.get_by_role("region", name="Comparison")).to_be_visible()
        for text in ("aHVudGVyMg", "c2VjcmV0"):
            assert text not in page.get_by_role("dialog").inner_text()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved", exact=True)).to_be_visible()
        expect(editor(page)).not_to_contain_text("c2VjcmV0")
    data = server.http.get("/api/v1/namespaces/default/secrets/password").json()["data"]
    assert data == {"key": "aHVudGVyMg==", "new": "c2VjcmV0"}


def test_a_logout_drops_drafts(chromium: Browser) -> None:
    with chromium.page("edit/core/v1/configmaps/default/leaving") as page:
        replace_in_line(page, "key: value", "key: written")
        expect(page.get_by_text("The server accepts this")).to_be_visible()
        page.get_by_role("button", name="User: ").click()
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("heading", name="Log in to the cluster")).to_be_visible()
        assert "written" not in page.evaluate(STORAGE)
