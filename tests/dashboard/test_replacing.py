"""Other ways to save: replacement with a three-way merge after a conflict, merge patch, JSON patch."""

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import Browser
from tests.dashboard.editing import line, replace_in_line
from tests.dashboard.samples import config_map
from tests.dashboard.server import DashboardServer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def test_a_replacement_after_a_foreign_change_is_merged(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("contested"))
    path = f"{CONFIG_MAPS}/contested"
    with chromium.page("edit/core/v1/configmaps/default/contested") as page:
        replace_in_line(page, "key: value", "key: mine # a comment\n  added: mine")
        server.patch(path, {"data": {"key": "theirs", "other": "theirs"}})
        page.get_by_role("button", name="Review and save").click()
        page.get_by_label("Save by").select_option("replace")
        expect(page.get_by_role("alert")).to_contain_text("the object has been modified")
        page.get_by_role("button", name="Merge", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("data.key")
        expect(line(page, "key: mine # a comment")).to_be_visible()
        expect(line(page, "other: theirs")).to_be_visible()
        page.get_by_role("button", name="Review and save").click()
        page.get_by_label("Save by").select_option("replace")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert server.http.get(path).json()["data"] == {"key": "mine", "added": "mine", "other": "theirs"}


@pytest.mark.parametrize("way", ["merge", "json"])
def test_a_patch_changes_only_what_the_user_changed(server: DashboardServer, chromium: Browser, way: str) -> None:
    server.create(CONFIG_MAPS, config_map(f"patched-{way}"))
    path = f"{CONFIG_MAPS}/patched-{way}"
    with chromium.page(f"edit/core/v1/configmaps/default/patched-{way}") as page:
        replace_in_line(page, "key: value", "key: mine")
        server.patch(path, {"data": {"other": "theirs"}})
        page.get_by_role("button", name="Review and save").click()
        page.get_by_label("Save by").select_option(way)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Saved", exact=True)).to_be_visible()
    assert server.http.get(path).json()["data"] == {"key": "mine", "other": "theirs"}
