"""Deletions that wait: the finalizer or the condition that holds them, and the removal of a finalizer."""

import time

from playwright.sync_api import expect

from tests.dashboard.browser import Browser
from tests.dashboard.samples import config_map
from tests.dashboard.server import DashboardServer

LOOPS = "chain,gc"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
HOLD = "harbour.example.com/hold"


def test_a_finalizer_is_removed_after_its_name_is_typed(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("stuck", finalizers=[HOLD]))
    server.delete(f"{CONFIG_MAPS}/stuck")
    with chromium.page("object/core/v1/configmaps/default/stuck") as page:
        held = page.get_by_role("region", name="The deletion waits since")
        expect(held).to_contain_text(HOLD)
        held.get_by_role("button", name=f"Remove the finalizer {HOLD}").click()
        remove = held.get_by_role("button", name="Remove the finalizer", exact=True)
        expect(remove).to_be_disabled()
        held.get_by_role("textbox").fill(HOLD)
        remove.click()
        expect(page.get_by_text("This object has been deleted")).to_be_visible()
    assert server.http.get(f"{CONFIG_MAPS}/stuck").status_code == 404


def test_a_namespace_names_the_condition_that_holds_it(server: DashboardServer, chromium: Browser) -> None:
    server.create("/api/v1/namespaces", {"metadata": {"name": "doomed"}})
    server.create("/api/v1/namespaces/doomed/configmaps", config_map("left", finalizers=[HOLD]))
    server.delete("/api/v1/namespaces/doomed")
    for _ in range(200):
        conditions = server.http.get("/api/v1/namespaces/doomed").json()["status"].get("conditions", [])
        if any(each["type"] == "NamespaceFinalizersRemaining" and each["status"] == "True" for each in conditions):
            break
        time.sleep(0.05)
    with chromium.page("object/core/v1/namespaces/doomed") as page:
        held = page.get_by_role("region", name="The deletion waits since")
        expect(held).to_contain_text("NamespaceFinalizersRemaining")
        expect(held).to_contain_text(HOLD)
