"""Deletion: what goes with an object, what holds it, and how its dependents are treated."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.samples import HOSTILE, config_map, deployment
from tests.dashboard.server import DashboardServer
from tests.dashboard.test_pages import check_at_all_widths

LOOPS = "chain,gc"
NODES = 1
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
Json = dict[str, Any]


def wait_for(read: Callable[[], bool]) -> None:
    """Wait until a condition of the server is true."""
    for _ in range(200):
        if read():
            return
        time.sleep(0.05)
    raise AssertionError("the condition did not become true")


def names(server: DashboardServer) -> set[str]:
    """Return the objects of the namespace that Deployments and ConfigMaps lead to."""
    base = ("/apis/apps/v1/namespaces/default/replicasets", "/api/v1/namespaces/default/pods", CONFIG_MAPS)
    return {f"{path} {each['metadata']['name']}" for path in base for each in server.http.get(path).json()["items"]}


def open_delete(page: Page) -> None:
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog", name="Delete:")).to_be_visible()


def owned(name: str, *owners: Json) -> Json:
    """Return a ConfigMap with owners."""
    references = [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": each["metadata"]["name"], "uid": each["metadata"]["uid"]}
        for each in owners
    ]
    return config_map(name, ownerReferences=references)


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    server.create(DEPLOYMENTS, deployment("web", replicas=2))
    wait_for(lambda: sum("/pods " in each for each in names(server)) == 2)


def test_the_counted_objects_are_those_that_the_garbage_collector_removes(
    server: DashboardServer, chromium: Browser
) -> None:
    [one, other] = server.create(CONFIG_MAPS, config_map("one"), config_map("other"))
    [child] = server.create(CONFIG_MAPS, owned("child", one))
    server.create(CONFIG_MAPS, owned("grandchild", child), owned("shared", one, other))
    before = names(server)
    with chromium.page("object/core/v1/configmaps/default/one") as page:
        open_delete(page)
        expect(page.get_by_text("2 more objects are deleted with it:")).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_text("This object has been deleted")).to_be_visible()
    wait_for(lambda: len(names(server)) <= len(before) - 3)
    removed = {each.rpartition(" ")[2] for each in before - names(server)}
    assert removed == {"one", "child", "grandchild"}


def test_a_deployment_counts_its_replica_set_and_pods(chromium: Browser) -> None:
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        open_delete(page)
        expect(page.get_by_text("3 more objects are deleted with it:")).to_be_visible()
        expect(page.get_by_role("dialog").locator("summary")).to_contain_text(["Pods 2", "ReplicaSets 1"])
        check_at_all_widths(page, "delete", "dialog")
        page.get_by_text("stays, without an owner").click()
        expect(page.get_by_text("3 objects stay without an owner:")).to_be_visible()


def test_orphaned_objects_stay(server: DashboardServer, chromium: Browser) -> None:
    [parent] = server.create(CONFIG_MAPS, config_map("parent"))
    server.create(CONFIG_MAPS, owned("orphan", parent))
    with chromium.page("object/core/v1/configmaps/default/parent") as page:
        open_delete(page)
        page.get_by_text("stays, without an owner").click()
        expect(page.get_by_text("One object stays")).to_be_visible()
        page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
        expect(page.get_by_text("This object has been deleted")).to_be_visible()
    left = server.http.get(f"{CONFIG_MAPS}/orphan").json()
    assert left["metadata"].get("ownerReferences", []) == []


def test_finalizers_that_will_hold_the_deletion_are_named(server: DashboardServer, chromium: Browser) -> None:
    [held] = server.create(CONFIG_MAPS, config_map("held", finalizers=["harbour.example.com/hold"]))
    inner = owned("inner", held)
    inner["metadata"]["finalizers"] = ["harbour.example.com/inner"]
    server.create(CONFIG_MAPS, inner)
    with chromium.page("object/core/v1/configmaps/default/held") as page:
        open_delete(page)
        dialog = page.get_by_role("dialog", name="Delete:")
        expect(dialog).to_contain_text("These finalizers hold the deletion")
        expect(dialog).to_contain_text("harbour.example.com/hold")
        expect(dialog).to_contain_text("ConfigMap inner: harbour.example.com/inner")


def test_a_namespace_is_deleted_after_its_name_is_typed(server: DashboardServer, chromium: Browser) -> None:
    server.create("/api/v1/namespaces", {"metadata": {"name": "doomed", "annotations": {"note": HOSTILE}}})
    server.create("/api/v1/namespaces/doomed/configmaps", config_map("inside"))
    with chromium.page("object/core/v1/namespaces/doomed") as page:
        open_delete(page)
        expect(page.get_by_role("dialog").locator("summary").filter(has_text="ConfigMaps")).to_be_visible()
        button = page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True)
        expect(button).to_be_disabled()
        page.get_by_label("Type doomed to confirm").fill("doomed")
        expect(button).to_be_enabled()
        assert server.http.get("/api/v1/namespaces/doomed").json()["status"]["phase"] == "Active"


def test_a_refused_deletion_is_not_offered(server: DashboardServer, chromium: Browser) -> None:
    policies = "/apis/admissionregistration.k8s.io/v1"
    rules = [{"operations": ["DELETE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]
    spec = {
        "matchConstraints": {"resourceRules": rules},
        "validations": [{"expression": "oldObject.metadata.name != 'kept'", "message": "this map is kept"}],
    }
    server.create(f"{policies}/validatingadmissionpolicies", {"metadata": {"name": "keep"}, "spec": spec})
    bound = {"policyName": "keep", "validationActions": ["Deny"]}
    server.create(f"{policies}/validatingadmissionpolicybindings", {"metadata": {"name": "keep"}, "spec": bound})
    server.create(CONFIG_MAPS, config_map("kept"))
    wait_for(lambda: server.http.delete(f"{CONFIG_MAPS}/kept", params={"dryRun": "All"}).status_code != 200)
    with chromium.page("object/core/v1/configmaps/default/kept") as page:
        open_delete(page)
        expect(page.get_by_role("alert")).to_contain_text("this map is kept")
        expect(page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True)).to_be_disabled()
