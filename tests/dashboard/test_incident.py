"""Changes before a problem: the one that explains it comes first."""

import time

from playwright.sync_api import expect

from tests.dashboard.browser import Browser
from tests.dashboard.histories import CONFIG_MAPS, DEPLOYMENTS, create_deployment, patch, set_image
from tests.dashboard.samples import config_map
from tests.dashboard.server import DashboardServer
from tests.dashboard.test_pages import check_at_all_widths

LOOPS = "chain,gc"
NODES = 2
SECRETS = "/api/v1/namespaces/default/secrets"


def is_available(server: DashboardServer, name: str) -> bool:
    """Return True if all replicas of a Deployment are available."""
    found = server.http.get(f"{DEPLOYMENTS}/{name}").json()
    return bool((found.get("status") or {}).get("availableReplicas") == found["spec"]["replicas"])


def test_the_image_that_crashes_is_the_first_suspect(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("settings"))
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}, "data": {"key": "aHVudGVyMg=="}}
    server.create(SECRETS, secret)
    create_deployment(
        server, "shop", envFrom=[{"configMapRef": {"name": "settings"}}, {"secretRef": {"name": "login"}}]
    )
    for _ in range(200):
        if is_available(server, "shop"):
            break
        time.sleep(0.1)
    patch(server, f"{CONFIG_MAPS}/settings", {"data": {"key": "other"}})
    patch(server, f"{SECRETS}/login", {"data": {"key": "b3RoZXI="}})
    patch(server, f"{DEPLOYMENTS}/shop", {"metadata": {"labels": {"team": "a"}}}, "kubectl-label")
    set_image(server, "shop", "registry.example/shop:broken", **{"sampan.dev/fail-after": "1s"})
    with chromium.page("object/apps/v1/deployments/default/shop") as page:
        expect(page.get_by_text("CrashLoopBackOff").first).to_be_visible(timeout=60_000)
        page.get_by_role("link", name="What changed before this?").click()
        first = page.locator(".suspect").first
        expect(first).to_contain_text("registry.example/shop:broken")
        expect(first).to_contain_text("kubectl-set")
        expect(first).to_contain_text("before the problem")
        line = page.locator(".timeline")
        expect(line).to_contain_text("First problem")
        expect(line).to_contain_text("ConfigMap settings")
        expect(line).to_contain_text("Secret login")
        expect(line).to_contain_text("data.key")
        expect(line).to_contain_text("ScalingReplicaSet")
        assert [text for text in ("aHVudGVyMg", "b3RoZXI") if text in page.content()] == []
        check_at_all_widths(page, "object-incident-shop")
        first.get_by_role("link", name="Deployment shop").click()
        expect(page.get_by_role("region", name="Lines that differ")).to_contain_text("registry.example/shop:broken")


def test_without_a_problem_the_latest_changes_are_shown(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("calm"))
    patch(server, f"{CONFIG_MAPS}/calm", {"data": {"key": "new"}})
    with chromium.page("object/core/v1/configmaps/default/calm?tab=incident") as page:
        expect(page.get_by_text("No problem now")).to_be_visible()
        expect(page.locator(".timeline")).to_contain_text("data.key")
