"""The overview: problems first, what is new, and right numbers for users with few rights. A newcomer finds a fault."""

from typing import Any, Final

import pytest
import yaml
from playwright.sync_api import Page, expect
from scripts.web.places import ROOT

from sampan.server.request import UserInfo
from tests.dashboard.browser import Browser
from tests.dashboard.samples import HOSTILE, config_map
from tests.dashboard.server import DashboardServer

LOOPS = "chain,gc"
NODES = 1
DEPLOYMENTS: Final = "/apis/apps/v1/namespaces/default/deployments"
RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
READABLE: Final = ("configmaps", "pods", "deployments", "replicasets", "events")
BROKEN: Final = "registry.invalid/portal:1.1"


@pytest.fixture(scope="module", autouse=True)
def portal(server: DashboardServer) -> None:
    """Run the Deployment of `make demo`, and break it as the demo does."""
    server.create(DEPLOYMENTS, yaml.safe_load((ROOT / "examples/01-network/portal.yaml").read_text()))
    containers = [{"name": "portal", "image": BROKEN}]
    change = {"spec": {"template": {"spec": {"containers": containers}}}}
    server.http.headers["User-Agent"] = "zealous-colleague/1.0"
    server.patch(f"{DEPLOYMENTS}/portal", change)


def test_a_newcomer_finds_why_the_deployment_is_not_ready_with_one_click(chromium: Browser) -> None:
    with chromium.page() as page:
        problems = page.get_by_role("region", name="One object needs attention")
        expect(problems).to_contain_text("2 × Pod: ImagePullBackOff", timeout=60_000)
        expect(problems).to_contain_text("The image cannot be pulled.")
        problems.get_by_role("link", name="Deployment portal").click()
        fault = page.get_by_role("region", name="2 problems")
        expect(fault).to_contain_text(f'Failed to pull image "{BROKEN}"')
        expect(fault).to_contain_text("Its name or tag is wrong")
        expect(fault).to_contain_text("ago by zealous-colleague")


def test_the_last_change_is_the_first_of_what_is_new(chromium: Browser) -> None:
    with chromium.page() as page:
        first = page.locator(".home-list li").first
        expect(first).to_contain_text("Deployment portal")
        expect(first).to_contain_text("changed by zealous-colleague")


def test_a_tile_counts_objects_and_those_with_problems(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page() as page:
        expect(tile(page, "Deployments")).to_contain_text("1 with a problem", timeout=60_000)
        before = int(tile(page, "ConfigMaps").locator(".tile-count").inner_text())
        server.create("/api/v1/namespaces/default/configmaps", config_map("one-more"))
        expect(tile(page, "ConfigMaps").locator(".tile-count")).to_have_text(str(before + 1))


def test_a_user_with_rights_in_two_namespaces_gets_their_numbers_without_a_refusal(
    server: DashboardServer, chromium: Browser
) -> None:
    user = UserInfo("two", groups=("system:authenticated",))
    rules = [{"apiGroups": ["*"], "resources": list(READABLE), "verbs": ["get", "list", "watch"]}]
    server.create(f"{RBAC}/clusterroles", {"metadata": {"name": "two"}, "rules": rules})
    for name in ("left", "right"):
        server.create("/api/v1/namespaces", {"metadata": {"name": name}})
        server.create(f"/api/v1/namespaces/{name}/configmaps", config_map("own"))
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "two"}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user.name}
        binding = {"metadata": {"name": "two"}, "roleRef": role, "subjects": [subject]}
        server.create(f"{RBAC}/namespaces/{name}/rolebindings", binding)
    server.shell.user, server.shell.features = user, ["namespaces"]
    reviewed = {"allNamespaces": False, "namespaces": ["left", "right"], "incomplete": False}
    server.shell.replaced["/apis/sampan.dev/v1alpha1/selfnamespacesreviews"] = {"status": reviewed}
    server.shell.requests.clear()
    with chromium.page() as page:
        expect(tile(page, "ConfigMaps").locator(".tile-count")).to_have_text("2")
        expect(tile(page, "Deployments").locator(".tile-count")).to_have_text("0")
        expect(tile(page, "Secrets").locator(".tile-count")).to_have_text("–")
        expect(page.get_by_text("Nothing needs attention")).to_be_visible()
        expect(page.get_by_text("No warnings in the last hour")).to_be_visible()
    refused = [target for _, target, status in server.shell.requests if status == 403]
    assert [target for target in refused if any(f"/{name}?" in target for name in READABLE)] == []


def test_a_hostile_warning_is_text(server: DashboardServer, chromium: Browser) -> None:
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "namespace": "default", "uid": "u"}
    event: dict[str, Any] = {"metadata": {"name": "hostile"}, "type": "Warning", "reason": HOSTILE[:100]}
    event |= {"message": HOSTILE, "involvedObject": about}
    server.create("/api/v1/namespaces/default/events", event)
    with chromium.page() as page:
        expect(page.locator(".warning-message").get_by_text("<img src=x onerror=").first).to_be_visible()
        assert page.locator("main img, main script").count() == 0


def tile(page: Page, kind: str) -> Any:
    return page.locator(".tile").filter(has_text=kind).first
