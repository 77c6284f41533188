"""Deleted objects: they are found with time and user, and created again from their last state."""

from playwright.sync_api import expect

from tests.dashboard.browser import Browser
from tests.dashboard.histories import CONFIG_MAPS
from tests.dashboard.samples import config_map
from tests.dashboard.server import DashboardServer
from tests.dashboard.test_pages import check_at_all_widths

SECRETS = "/api/v1/namespaces/default/secrets"


def test_a_deleted_object_is_found_and_restored(server: DashboardServer, chromium: Browser) -> None:
    (created,) = server.create(CONFIG_MAPS, config_map("lost", labels={"app": "web"}))
    server.delete(f"{CONFIG_MAPS}/lost")
    with chromium.page("list/core/v1/configmaps?ns=default") as page:
        page.get_by_role("link", name="Deleted").click()
        row = page.get_by_role("row").filter(has_text="lost")
        expect(row).to_contain_text("system:admin")
        expect(page.get_by_text("The history begins here")).to_be_visible()
        expect(page.get_by_text("--history-retention")).to_have_count(0)
        row.get_by_role("button", name="Restore").click()
        dialog = page.get_by_role("dialog", name="Restore ConfigMap lost")
        expect(dialog).to_contain_text("The server would create this object.")
        assert server.http.get(f"{CONFIG_MAPS}/lost").status_code == 404
        check_at_all_widths(page, "deleted-restore", ".dialog")
        dialog.get_by_role("button", name="Restore").click()
        expect(page.get_by_role("heading", name="lost")).to_be_visible()
    restored = server.http.get(f"{CONFIG_MAPS}/lost").json()
    assert (restored["data"], restored["metadata"]["labels"]) == (created["data"], {"app": "web"})
    assert restored["metadata"]["uid"] != created["metadata"]["uid"]


def test_owners_that_no_longer_exist_are_left_out(server: DashboardServer, chromium: Browser) -> None:
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "00000000-0000-0000-0000-000000000000"}
    server.create(CONFIG_MAPS, config_map("owned", ownerReferences=[owner]))
    server.delete(f"{CONFIG_MAPS}/owned")
    with chromium.page("deleted/core/v1/configmaps?ns=default&q=owned") as page:
        page.get_by_role("button", name="Restore owned").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("Owners that no longer exist are left out")
        dialog.get_by_role("button", name="Restore").click()
        expect(page.get_by_role("heading", name="owned")).to_be_visible()
    assert "ownerReferences" not in server.http.get(f"{CONFIG_MAPS}/owned").json()["metadata"]


def test_an_object_that_exists_again_is_not_overwritten(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("again"))
    server.delete(f"{CONFIG_MAPS}/again")
    server.create(CONFIG_MAPS, config_map("again"))
    with chromium.page("deleted/core/v1/configmaps?ns=default&q=again") as page:
        page.get_by_role("button", name="Restore again").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("alert")).to_contain_text("already exists")
        expect(dialog.get_by_role("button", name="Restore")).to_be_disabled()


def test_a_secret_is_restored_without_showing_its_values(server: DashboardServer, chromium: Browser) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "token"}, "data": {"key": "aHVudGVyMg=="}}
    server.create(SECRETS, secret)
    server.delete(f"{SECRETS}/token")
    with chromium.page("deleted/core/v1/secrets?ns=default") as page:
        page.get_by_role("button", name="Restore token").click()
        dialog = page.get_by_role("dialog")
        expect(dialog).to_contain_text("The server would create this object.")
        assert "aHVudGVyMg" not in page.content()
        dialog.get_by_role("button", name="Restore").click()
        expect(page.get_by_role("heading", name="token")).to_be_visible()
    assert server.http.get(f"{SECRETS}/token").json()["data"] == secret["data"]


def test_the_page_of_an_object_that_is_gone_leads_to_the_deleted_ones(
    server: DashboardServer, chromium: Browser
) -> None:
    server.create(CONFIG_MAPS, config_map("sunk"))
    server.delete(f"{CONFIG_MAPS}/sunk")
    with chromium.page("object/core/v1/configmaps/default/sunk") as page:
        page.get_by_role("link", name="Find it among the deleted ones").click()
        expect(page.get_by_role("button", name="Restore sunk")).to_be_visible()
