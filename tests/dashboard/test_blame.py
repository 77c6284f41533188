"""Owners of the lines of an object: names, selection by manager, and tugs of war."""

from playwright.sync_api import expect

from tests.dashboard.browser import Browser
from tests.dashboard.histories import DEPLOYMENTS, create_deployment, fight, set_image
from tests.dashboard.samples import deployment
from tests.dashboard.server import DashboardServer


def test_each_line_names_its_manager_and_a_manager_selects_its_lines(
    server: DashboardServer, chromium: Browser
) -> None:
    create_deployment(server, "web")
    set_image(server, "web", "registry.example/web:2")
    with chromium.page("object/apps/v1/deployments/default/web?tab=yaml") as page:
        page.get_by_role("button", name="Who changed").click()
        lines = page.get_by_role("region", name="Lines with their owners")
        expect(lines.locator(".line", has_text="image: registry.example/web:2")).to_contain_text("kubectl-set")
        page.get_by_role("group", name="Managers of fields").get_by_role("button", name="kubectl-set").click()
        expect(lines.locator("code", has_text="image: registry.example/web:2")).to_be_visible()
        expect(lines.locator("code", has_text="replicas:")).to_have_count(0)
        assert "manager=kubectl-set" in page.url
        page.reload()
        expect(lines.locator("code", has_text="replicas:")).to_have_count(0)


def test_the_copy_of_the_last_apply_is_explained_and_a_tug_of_war_marked(
    server: DashboardServer, chromium: Browser
) -> None:
    made = deployment("fought")
    made["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    server.create(DEPLOYMENTS, made)
    fight(server, "fought", 10)
    with chromium.page("object/apps/v1/deployments/default/fought?tab=yaml&blame=1") as page:
        expect(page.get_by_text("is a copy of the manifest of the last kubectl apply")).to_be_visible()
        expect(page.locator(".line", has_text="replicas: 5")).to_contain_text("in turn: argocd, autoscaler")
