"""Pages of the server and of kinds: charts, requests, leases, grants of RBAC, the description of a kind."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sampan.server.request import UserInfo
from tests.dashboard.browser import Browser
from tests.dashboard.samples import crd
from tests.dashboard.server import DashboardServer

RBAC = "/apis/rbac.authorization.k8s.io/v1"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
SUBJECTS = ("ann", "ben", "eve")


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    """Create a CRD, and roles for a few users."""
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd())
    reader = {"metadata": {"name": "reader"}, "rules": [rule(["get", "list"], [""], ["pods"])]}
    named = {"metadata": {"name": "named"}, "rules": [rule(["get"], [""], ["pods"], resourceNames=["web"])]}
    server.create(f"{RBAC}/clusterroles", reader, named)
    server.create(f"{RBAC}/clusterrolebindings", binding("everywhere", "ClusterRole", "reader", "ann"))
    server.create(
        f"{RBAC}/namespaces/default/roles", {"metadata": {"name": "logs"}, "rules": [rule(["get"], [""], ["pods/log"])]}
    )
    server.create(
        f"{RBAC}/namespaces/default/rolebindings",
        binding("here", "ClusterRole", "reader", "ben"),
        binding("one", "ClusterRole", "named", "eve"),
        binding("logs", "Role", "logs", "eve"),
    )


def rule(verbs: list[str], groups: list[str], resources: list[str], **more: Any) -> dict[str, Any]:
    """Return a rule of a role."""
    return {"verbs": verbs, "apiGroups": groups, "resources": resources, **more}


def binding(name: str, kind: str, role: str, user: str) -> dict[str, Any]:
    """Return a binding of a role to a user."""
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"kind": kind, "name": role, "apiGroup": "rbac.authorization.k8s.io"}
    return {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}


def test_charts_show_the_requests_of_the_server(chromium: Browser) -> None:
    with chromium.page("server/charts") as page:
        chart = page.get_by_role("region", name="Requests by verb")
        expect(chart.get_by_text(re.compile("^(GET|LIST|WATCH)$")).first).to_be_visible(timeout=20_000)
        assert re.search(r"(GET|LIST|WATCH) [\d.]+/s", chart.get_by_role("img").get_attribute("aria-label") or "")
        expect(page.get_by_role("region", name="Memory").get_by_text("MiB").first).to_be_visible()


def test_requests_show_the_priority_levels(chromium: Browser) -> None:
    with chromium.page("server/requests") as page:
        table = page.get_by_role("region", name="Priority levels")
        expect(table.get_by_role("row", name="workload-low")).to_be_visible()


def test_a_user_without_the_right_learns_which_path_it_needs(server: DashboardServer, chromium: Browser) -> None:
    server.shell.user = UserInfo("ann")
    with chromium.page("server/charts") as page:
        expect(page.get_by_text("A cluster role must allow get on /metrics.")).to_be_visible()


def test_an_expired_lease_is_marked(server: DashboardServer, chromium: Browser) -> None:
    spec = {"holderIdentity": "a", "leaseDurationSeconds": 1, "renewTime": "2026-01-01T00:00:00.000000Z"}
    server.create("/apis/coordination.k8s.io/v1/namespaces/default/leases", {"metadata": {"name": "old"}, "spec": spec})
    with chromium.page("server/state") as page:
        expect(page.get_by_role("row", name="old").get_by_text("expired")).to_be_visible()


def granted(page: Page) -> list[str]:
    """Return the subjects that the page lists."""
    expect(page.get_by_role("heading", name=re.compile(r"\d+ grants?"))).to_be_visible()
    return page.get_by_role("region", name="Grants").get_by_role("rowheader").all_inner_texts()


@pytest.mark.parametrize(
    ("verb", "resource", "name", "namespace"),
    [
        ("list", "pods", "", "default"),
        ("list", "pods", "", ""),
        ("get", "pods", "web", "default"),
        ("get", "pods", "other", "default"),
        ("get", "pods/log", "web", "default"),
        ("delete", "pods", "", "default"),
    ],
)
def test_the_page_names_the_users_that_the_server_allows(
    server: DashboardServer, chromium: Browser, verb: str, resource: str, name: str, namespace: str
) -> None:
    allowed = []
    for user in SUBJECTS:
        plural, _, subresource = resource.partition("/")
        attributes = {
            "verb": verb,
            "resource": plural,
            "subresource": subresource,
            "name": name,
            "namespace": namespace,
        }
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview"}
        (reviewed,) = server.create(REVIEWS, {**review, "spec": {"user": user, "resourceAttributes": attributes}})
        if reviewed["status"]["allowed"]:
            allowed.append(user)
    with chromium.page(f"server/who-can?verb={verb}&resource={resource}&name={name}&in={namespace}") as page:
        assert sorted(set(granted(page)) & set(SUBJECTS)) == allowed


def test_a_kind_is_described_with_its_versions_and_rules(chromium: Browser) -> None:
    with chromium.page("kind/harbour.example.com/v1/boats") as page:
        expect(page.get_by_role("heading", name="Boat", level=1)).to_be_visible()
        expect(page.get_by_role("region", name="Versions").get_by_role("row", name="v1")).to_be_visible()
        page.get_by_role("button", name="Show spec").click()
        expect(page.get_by_role("button", name="size", exact=True)).to_be_visible()


def test_a_field_of_a_built_in_kind_has_an_address(chromium: Browser) -> None:
    with chromium.page("kind/apps/v1/deployments?field=spec.strategy.type") as page:
        expect(page.get_by_text("Recreate").first).to_be_visible()
        page.get_by_role("searchbox", name="Search fields").fill("minReadySeconds")
        page.get_by_role("button", name="spec.minReadySeconds").click()
        expect(page.get_by_text("Minimum number of seconds").first).to_be_visible()
        assert "field=spec.minReadySeconds" in page.url


@pytest.mark.parametrize(
    ("field", "texts"),
    [
        ("spec.strategy", ["The deployment strategy to use", "DeploymentStrategy describes how to replace"]),
        ("spec.template.spec.containers", ["List of containers belonging", "A single application container"]),
    ],
)
def test_a_field_has_the_description_of_its_type_as_kubectl_explain(
    chromium: Browser, field: str, texts: list[str]
) -> None:
    with chromium.page(f"kind/apps/v1/deployments?field={field}") as page:
        for text in texts:
            expect(page.locator(".schema-description")).to_contain_text(text)
