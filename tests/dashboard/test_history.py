"""The history of an object: its revisions, the difference of any two, tugs of war, and rolling back."""

import json
import re
from time import monotonic
from typing import Any

from playwright.sync_api import expect

from sampan.server.request import Response
from tests.dashboard.browser import Browser
from tests.dashboard.histories import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    create_deployment,
    fight,
    patch,
    revision,
    revisions,
    set_image,
)
from tests.dashboard.samples import HOSTILE, config_map
from tests.dashboard.server import DashboardServer
from tests.dashboard.test_pages import check_at_all_widths


def test_each_revision_has_its_manager_and_the_fields_that_changed(server: DashboardServer, chromium: Browser) -> None:
    create_deployment(server, "web")
    set_image(server, "web", "registry.example/web:2")
    with chromium.page("object/apps/v1/deployments/default/web?tab=history") as page:
        expect(revisions(page)).to_have_count(2)
        changed = revision(page, "containers[main].image")
        expect(changed).to_contain_text("kubectl-set")
        expect(revision(page, "Created")).to_contain_text("helm")
        expect(page.get_by_text("The history begins here")).to_be_visible()
        lines = page.get_by_role("region", name="Lines that differ")
        expect(lines.locator("td.gone")).to_contain_text("registry.example/web:1")
        expect(lines.locator("td.new")).to_contain_text("registry.example/web:2")
        patch(server, f"{DEPLOYMENTS}/web", {"spec": {"paused": True}})
        expect(revision(page, "spec.paused")).to_contain_text("kubectl-edit")


def test_any_two_revisions_are_compared_and_the_address_has_both(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("two"))
    for value in ("second", "third"):
        patch(server, f"{CONFIG_MAPS}/two", {"data": {"key": value}})
    with chromium.page("object/core/v1/configmaps/default/two?tab=history") as page:
        listbox = page.get_by_role("listbox", name="Revisions")
        listbox.focus()
        page.keyboard.press("End")
        expect(revision(page, "Created")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("Home")
        page.get_by_label("Compare with").select_option(index=2)
        lines = page.get_by_role("region", name="Lines that differ")
        expect(lines.locator("td.gone")).to_contain_text("key: value")
        expect(lines.locator("td.new")).to_contain_text("key: third")
        assert re.search(r"rev=\d+.*with=\d+", page.url)
        page.get_by_role("button", name="Side by side").click()
        expect(lines.locator("table.split")).to_be_visible()
        page.reload()
        expect(lines.locator("table.split td.gone")).to_contain_text("key: value")


def test_a_revision_leads_to_the_page_of_its_time(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("visited"))
    patch(server, f"{CONFIG_MAPS}/visited", {"data": {"key": "newer"}})
    with chromium.page("object/core/v1/configmaps/default/visited?tab=history") as page:
        revision(page, "Created").click()
        page.get_by_role("link", name="Page at this time").click()
        expect(page.get_by_role("region", name="The page shows the past")).to_be_visible()
        expect(page.get_by_text("value", exact=True)).to_be_visible()


def test_changes_of_the_status_can_be_hidden(server: DashboardServer, chromium: Browser) -> None:
    create_deployment(server, "quiet")
    server.patch(f"{DEPLOYMENTS}/quiet/status", {"status": {"observedGeneration": 1}})
    with chromium.page("object/apps/v1/deployments/default/quiet?tab=history") as page:
        expect(revision(page, "status.observedGeneration")).to_be_visible()
        page.get_by_role("button", name="Without status").click()
        expect(revisions(page)).to_have_count(1)
        assert "status=0" in page.url


def test_a_long_history_is_read_in_pages_and_shown_in_part(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("long"))
    for i in range(520):
        patch(server, f"{CONFIG_MAPS}/long", {"data": {"key": str(i)}})
    server.shell.requests.clear()
    with chromium.page("object/core/v1/configmaps/default/long?tab=history") as page:
        expect(revisions(page).first).to_contain_text("data.key")
        pages = [target for _, target, _ in server.shell.requests if "sampan.dev%2Fhistory" in target]
        assert len(pages) == 1
        listbox = page.get_by_role("listbox", name="Revisions")
        listbox.focus()
        deadline = monotonic() + 60
        while page.get_by_text("521 revisions").count() == 0 and monotonic() < deadline:
            page.keyboard.press("End")
            page.wait_for_timeout(100)
        expect(page.get_by_text("521 revisions")).to_be_visible()
        expect(page.get_by_text("The history begins here")).to_be_visible()
        assert revisions(page).count() < 60


def ndjson(*lines: Any) -> Response:
    """Return a response with lines."""
    body = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
    return Response(200, body, "application/x-ndjson")


def test_the_end_of_the_history_names_the_option_that_keeps_more(server: DashboardServer, chromium: Browser) -> None:
    (created,) = server.create(CONFIG_MAPS, config_map("expired"))
    change = {"type": "MODIFIED", "resourceVersion": "7", "time": None, "user": None, "userAgent": None}
    end = {"type": "END", "reason": "Expired", "continue": ""}
    server.shell.replaced[f"{CONFIG_MAPS}/expired"] = ndjson({**change, "object": created}, end)
    with chromium.page("object/core/v1/configmaps/default/expired?tab=history") as page:
        expect(page.get_by_text("--history-retention")).to_be_visible()
        expect(page.get_by_text("The server no longer has the state before this revision")).to_be_visible()


def test_a_server_without_history_is_explained(server: DashboardServer, chromium: Browser) -> None:
    (created,) = server.create(CONFIG_MAPS, config_map("foreign"))
    server.shell.replaced[f"{CONFIG_MAPS}/foreign"] = ndjson(created)
    with chromium.page("object/core/v1/configmaps/default/foreign?tab=history") as page:
        expect(page.get_by_role("heading", name="No history")).to_be_visible()


def test_values_of_a_secret_are_not_in_its_history(server: DashboardServer, chromium: Browser) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password"}, "data": {"key": "aHVudGVyMg=="}}
    server.create(secrets, secret)
    patch(server, f"{secrets}/password", {"data": {"key": "b3RoZXI="}})
    with chromium.page("object/core/v1/secrets/default/password?tab=history") as page:
        expect(page.get_by_role("region", name="Lines that differ")).to_contain_text("(changed)")
        assert [text for text in ("aHVudGVyMg", "b3RoZXI", "hunter2") if text in page.content()] == []


def test_hostile_texts_in_a_history_are_shown_as_texts(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("hostile-history"))
    patch(server, f"{CONFIG_MAPS}/hostile-history", {"data": {"key": HOSTILE}})
    with chromium.page("object/core/v1/configmaps/default/hostile-history?tab=history") as page:
        expect(page.get_by_role("region", name="Lines that differ")).to_contain_text("<img src=x onerror=")
        assert page.locator("main img, main script").count() == 0


def test_without_the_right_to_list_the_history_names_it(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("forbidden"))
    status = {"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no list"}
    server.shell.replaced[f"{CONFIG_MAPS}/forbidden"] = Response(403, json.dumps(status).encode())
    with chromium.page("object/core/v1/configmaps/default/forbidden?tab=history") as page:
        expect(page.get_by_role("heading", name="You may not list configmaps in namespace default")).to_be_visible()


def test_two_controllers_in_a_tug_of_war_are_named(server: DashboardServer, chromium: Browser) -> None:
    create_deployment(server, "fought")
    fight(server, "fought", 10)
    with chromium.page("object/apps/v1/deployments/default/fought?tab=history") as page:
        warning = page.locator(".tugs")
        expect(warning).to_contain_text("spec.replicas")
        expect(warning).to_contain_text("argocd, autoscaler")
        expect(revisions(page).filter(has_text="tug of war").first).to_be_visible()


def image_of(server: DashboardServer, name: str) -> str:
    """Return the image of a Deployment."""
    found = server.http.get(f"{DEPLOYMENTS}/{name}").json()
    return str(found["spec"]["template"]["spec"]["containers"][0]["image"])


def test_an_object_is_rolled_back_after_a_review_with_conflicts(server: DashboardServer, chromium: Browser) -> None:
    create_deployment(server, "back")
    set_image(server, "back", "registry.example/web:broken")
    with chromium.page("object/apps/v1/deployments/default/back?tab=history") as page:
        revision(page, "Created").click()
        page.get_by_role("button", name="Roll back").click()
        dialog = page.get_by_role("dialog", name=re.compile("Roll back to revision"))
        expect(dialog).to_contain_text("is owned by kubectl-set")
        dialog.get_by_text("Take over:").click()
        expect(dialog.locator("td.gone")).to_contain_text("registry.example/web:broken")
        assert image_of(server, "back") == "registry.example/web:broken"
        check_at_all_widths(page, "history-roll-back", ".dialog")
        dialog.get_by_role("button", name="Roll back").click()
        expect(dialog).to_have_count(0)
        expect(revision(page, "sampan-dashboard")).to_contain_text("image")
        assert image_of(server, "back") == "registry.example/web:1"


def test_the_newest_revision_cannot_be_rolled_back_to(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("newest"))
    with chromium.page("object/core/v1/configmaps/default/newest?tab=history") as page:
        expect(revision(page, "Created")).to_be_visible()
        expect(page.get_by_role("button", name="Roll back")).to_have_count(0)


def test_the_history_is_accessible_and_fits_each_window(server: DashboardServer, chromium: Browser) -> None:
    create_deployment(server, "wide")
    fight(server, "wide", 8)
    with chromium.page("object/apps/v1/deployments/default/wide?tab=history") as page:
        expect(page.locator(".tugs")).to_be_visible()
        check_at_all_widths(page, "history-tug")
        page.set_viewport_size({"width": 360, "height": 640})
        revisions(page).nth(1).click()
        expect(page.get_by_role("button", name="All revisions")).to_be_visible()
        check_at_all_widths(page, "history-revision")
