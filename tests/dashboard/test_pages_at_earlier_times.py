"""All pages at an earlier time: each shows the past, or explains that it cannot. None mixes both."""

from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.histories import CONFIG_MAPS, DEPLOYMENTS, create_deployment, patch, revisions
from tests.dashboard.samples import config_map, deployment
from tests.dashboard.server import DashboardServer

PODS: Final = "/api/v1/namespaces/default/pods"
REPLICA_SETS: Final = "/apis/apps/v1/namespaces/default/replicasets"


def revision_of_now(server: DashboardServer) -> str:
    """Return the revision of the store."""
    found: str = server.http.get(f"{CONFIG_MAPS}?limit=1").json()["metadata"]["resourceVersion"]
    return found


def pod(name: str, **spec: Any) -> dict[str, Any]:
    """Return a Pod."""
    containers = [{"name": "main", "image": "registry.example/web:1"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers, **spec}}


def tile(page: Page, kind: str) -> Any:
    """Return the count of a kind on the overview."""
    return page.locator(".tile", has_text=kind).locator(".tile-count")


def test_the_overview_has_the_counts_changes_and_warnings_of_the_time(
    server: DashboardServer, chromium: Browser
) -> None:
    about = {"kind": "ConfigMap", "namespace": "default", "name": "before", "apiVersion": "v1", "uid": "1"}
    times = {"firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z"}
    event = {"apiVersion": "v1", "kind": "Event", "involvedObject": about, "type": "Warning", "message": "m", **times}
    events = "/api/v1/namespaces/default/events"
    server.create(f"{CONFIG_MAPS}?fieldManager=then", config_map("before"), config_map("removed-since"))
    server.create(events, {**event, "metadata": {"name": "early"}, "reason": "EarlyReason"})
    at = revision_of_now(server)
    count = len(server.http.get(f"/api/v1/configmaps?resourceVersion={at}&resourceVersionMatch=Exact").json()["items"])
    server.delete(f"{CONFIG_MAPS}/removed-since")
    server.create(CONFIG_MAPS, *(config_map(f"since-{i}") for i in range(3)))
    server.create(events, {**event, "metadata": {"name": "late"}, "reason": "LateReason"})
    with chromium.page(f"?at={at}") as page:
        expect(page.get_by_role("region", name="The page shows the past")).to_be_visible()
        expect(tile(page, "ConfigMaps")).to_have_text(str(count))
        expect(page.get_by_role("link", name="ConfigMap removed-since")).to_be_visible()
        expect(page.get_by_text("EarlyReason")).to_be_visible()
        expect(page.get_by_text("LateReason")).to_have_count(0)
        expect(page.get_by_role("link", name="ConfigMap since-1")).to_have_count(0)
        expect(page.get_by_text("The kinds, and what you may read, are those of now.")).to_be_visible()
        page.get_by_role("button", name="Back to now").click()
        expect(tile(page, "ConfigMaps")).to_have_text(str(count + 2))
        expect(page.get_by_role("link", name="ConfigMap since-1")).to_be_visible()


def test_the_overview_has_the_problems_of_the_time(server: DashboardServer, chromium: Browser) -> None:
    server.create(PODS, pod("sick-since"))
    at = revision_of_now(server)
    status = {"status": {"phase": "Failed", "reason": "Evicted"}}
    server.patch(f"{PODS}/sick-since/status", status)
    with chromium.page() as page:
        expect(page.get_by_role("link", name="Pod sick-since")).not_to_have_count(0)
        expect(page.locator(".trouble-head", has_text="sick-since")).to_be_visible()
        page.goto(f"{chromium.address}/dashboard/?at={at}")
        expect(tile(page, "Pods")).to_have_text("1")
        expect(page.get_by_role("link", name="Pod sick-since")).to_be_visible()
        expect(page.locator(".trouble-head", has_text="sick-since")).to_have_count(0)


def test_the_overview_explains_a_time_that_the_server_has_removed(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("?at=1") as page:  # the test server keeps all, so the status is that of a compacted store
        expect(page.get_by_role("region", name="The page shows the past")).to_be_visible()

        def gone(route: Any) -> None:
            body = {"kind": "Status", "reason": "Expired", "code": 410, "message": "too old"}
            route.fulfill(status=410, json=body)

        page.route("**/*resourceVersionMatch=Exact*", gone)
        page.reload()
        expect(page.get_by_role("heading", name="The server no longer has this time")).to_be_visible()


@pytest.mark.parametrize("path", ["edit/core/v1/configmaps/default/edited", "create/core/v1/configmaps", "create"])
def test_editing_is_refused_in_the_past_and_begins_with_the_return(
    server: DashboardServer, chromium: Browser, path: str
) -> None:
    server.http.post(CONFIG_MAPS, json=config_map("edited"))
    with chromium.page(f"{path}?at={revision_of_now(server)}") as page:
        expect(page.get_by_role("heading", name="Read-only: the page shows the past")).to_be_visible()
        expect(page.locator(".cm-content")).to_have_count(0)
        page.get_by_role("main").get_by_role("button", name="Back to now").click()
        expect(page.locator(".cm-content")).to_be_visible()
        assert "at=" not in page.url


def test_links_of_the_frame_stay_at_the_time_and_pages_without_a_past_explain_it(
    server: DashboardServer, chromium: Browser
) -> None:
    at = revision_of_now(server)
    with chromium.page(f"list/core/v1/configmaps?at={at}") as page:
        page.get_by_role("navigation", name="Kinds").get_by_role("link", name="Overview").click()
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        assert page.url.endswith(f"/dashboard/?at={at}")
        page.get_by_role("link", name="Server", exact=True).click()
        expect(page.get_by_role("region", name="The page shows the past")).to_contain_text(
            "This page shows the present"
        )
        page.goto(f"{chromium.address}/dashboard/kind/core/v1/configmaps?at={at}")
        expect(page.get_by_text("This page shows the present")).to_be_visible()


def test_relations_are_those_of_the_time(server: DashboardServer, chromium: Browser) -> None:
    (owner,) = server.create(DEPLOYMENTS, deployment("owner"))
    (early, late) = (replica_set(owner, name) for name in ("owner-early", "owner-late"))
    server.create(REPLICA_SETS, early)
    at = revision_of_now(server)
    server.delete(f"{REPLICA_SETS}/owner-early")
    server.create(REPLICA_SETS, late)
    with chromium.page(f"object/apps/v1/deployments/default/owner?tab=relations&at={at}") as page:
        tree = page.get_by_role("tree")
        expect(tree).to_contain_text("owner-early")
        expect(tree).not_to_contain_text("owner-late")
        page.get_by_role("button", name="Back to now").click()
        expect(tree).to_contain_text("owner-late")
        expect(tree).not_to_contain_text("owner-early")


def replica_set(owner: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a ReplicaSet of a Deployment."""
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "owner", "controller": True}
    made = deployment(name) | {"kind": "ReplicaSet"}
    made["metadata"]["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"]}]
    return made


def test_the_history_ends_at_the_time_also_of_an_object_that_exists_again(
    server: DashboardServer, chromium: Browser
) -> None:
    server.create(CONFIG_MAPS, config_map("twice"))
    at = patch(server, f"{CONFIG_MAPS}/twice", {"data": {"key": "of-then"}})["metadata"]["resourceVersion"]
    patch(server, f"{CONFIG_MAPS}/twice", {"data": {"key": "of-now"}})
    path = f"object/core/v1/configmaps/default/twice?tab=history&at={at}"
    with chromium.page(path) as page:
        expect(revisions(page)).to_have_count(2)
        expect(page.get_by_text("of-then").first).to_be_visible()
        expect(page.get_by_text("of-now")).to_have_count(0)
        server.delete(f"{CONFIG_MAPS}/twice")
        server.create(CONFIG_MAPS, config_map("twice"))
        page.reload()
        expect(revisions(page)).to_have_count(2)
        expect(page.get_by_text("of-then").first).to_be_visible()


def test_what_changed_ends_at_the_time(server: DashboardServer, chromium: Browser) -> None:
    create_deployment(server, "looked-at")
    at = patch(server, f"{DEPLOYMENTS}/looked-at", {"spec": {"replicas": 3}}, "then")["metadata"]["resourceVersion"]
    patch(server, f"{DEPLOYMENTS}/looked-at", {"spec": {"replicas": 7}}, "afterwards")
    with chromium.page(f"object/apps/v1/deployments/default/looked-at?tab=incident&at={at}") as page:
        expect(page.get_by_text("then", exact=True).first).to_be_visible()
        expect(page.get_by_text("afterwards")).to_have_count(0)


def test_deleted_objects_are_those_until_the_time(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("gone-then"), config_map("gone-later"))
    server.delete(f"{CONFIG_MAPS}/gone-then")
    at = revision_of_now(server)
    server.delete(f"{CONFIG_MAPS}/gone-later")
    with chromium.page(f"list/core/v1/configmaps?ns=default&at={at}") as page:
        page.get_by_role("link", name="Deleted").click()
        expect(page.get_by_role("row").filter(has_text="gone-then")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="gone-later")).to_have_count(0)
        expect(page.get_by_role("button", name="Restore gone-then")).to_be_disabled()


def test_a_comparison_is_of_the_time(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("left"), config_map("right") | {"data": {"key": "of-then"}})
    at = revision_of_now(server)
    patch(server, f"{CONFIG_MAPS}/right", {"data": {"key": "of-now"}})
    with chromium.page(f"compare/core/v1/configmaps/default/left?with=default/right&at={at}") as page:
        expect(page.get_by_text("of-then").first).to_be_visible()
        page.get_by_role("button", name="Back to now").click()
        expect(page.get_by_text("of-now").first).to_be_visible()
        expect(page.get_by_text("of-then")).to_have_count(0)


@pytest.mark.parametrize("tab", ["Logs", "Terminal"])
def test_a_tab_without_a_past_explains_it(server: DashboardServer, chromium: Browser, tab: str) -> None:
    server.http.post(PODS, json=pod("logging"))
    with chromium.page(f"object/core/v1/pods/default/logging?at={revision_of_now(server)}") as page:
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("heading", name="This knows the present only")).to_be_visible()


def test_references_have_marks_of_the_time(server: DashboardServer, chromium: Browser) -> None:
    node = {"apiVersion": "v1", "kind": "Node"}
    server.create("/api/v1/nodes", {**node, "metadata": {"name": "of-then"}})
    server.create(PODS, pod("placed", nodeName="of-then"), pod("unplaced", nodeName="of-later"))
    at = revision_of_now(server)
    server.delete("/api/v1/nodes/of-then")
    server.create("/api/v1/nodes", {**node, "metadata": {"name": "of-later"}})
    with chromium.page(f"object/core/v1/pods/default/unplaced?at={at}") as page:
        expect(page.get_by_role("link", name="of-later does not exist")).to_be_visible()
        page.goto(f"{chromium.address}/dashboard/object/core/v1/pods/default/placed?at={at}")
        expect(page.get_by_role("link", name="of-then", exact=True)).to_be_visible()
        page.get_by_role("button", name="Back to now").click()
        expect(page.get_by_role("link", name="of-then does not exist")).to_be_visible()


def test_the_palette_finds_objects_of_the_time(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("found-then"))
    at = revision_of_now(server)
    server.delete(f"{CONFIG_MAPS}/found-then")
    with chromium.page(f"list/core/v1/pods?at={at}") as page:
        page.keyboard.press("Control+k")
        page.keyboard.type("configmap found")
        page.get_by_role("option", name="found-then").click()
        expect(page.get_by_role("heading", name="found-then")).to_be_visible()
        assert f"at={at}" in page.url
