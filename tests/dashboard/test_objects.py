"""Details of objects of any kind: problems, conditions, owned objects, references, Secrets, events, YAML, commands."""

import re
import time
from typing import Any

import pytest
from playwright.sync_api import expect

from sampan.server.request import UserInfo
from tests.dashboard.browser import Browser
from tests.dashboard.samples import HOSTILE, config_map, crd, deployment
from tests.dashboard.server import DashboardServer

LOOPS = "chain,gc"
NODES = 1
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
BOATS = "/apis/harbour.example.com/v1/namespaces/default/boats"
WITHOUT_RIGHTS = UserInfo("guest", groups=("system:authenticated",))


def boat(name: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "harbour.example.com/v1", "kind": "Boat", "metadata": {"name": name}, "spec": spec}


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    server.create("/apis/apps/v1/namespaces/default/deployments", deployment("web"))
    data = {"password": "aHVudGVyMg==", "binary": "//79"}
    last = {"kubectl.kubernetes.io/last-applied-configuration": '{"data":{"password":"aHVudGVyMg=="}}'}
    secret = {"metadata": {"name": "login", "annotations": last}, "data": data}
    server.create("/api/v1/namespaces/default/secrets", secret)
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd())
    crew = {"kind": "ConfigMap", "name": "absent"}
    for _ in range(100):
        if server.http.post(BOATS, json=boat("one", size=3, captain=HOSTILE, crewRef=crew)).status_code == 201:
            break
        time.sleep(0.05)


def test_an_unknown_crd_has_conditions_fields_descriptions_and_dangling_references(
    server: DashboardServer, chromium: Browser
) -> None:
    condition = {"type": "Ready", "status": "False", "reason": "Leak", "message": "a plank is missing"}
    condition["lastTransitionTime"] = "2026-01-02T03:04:05Z"
    server.patch(f"{BOATS}/one/status", {"status": {"conditions": [condition]}})
    with chromium.page("object/harbour.example.com/v1/boats/default/one") as page:
        problem = page.get_by_role("region", name="One problem")
        expect(problem).to_contain_text("Ready is False (Leak: a plank is missing)")
        expect(page.get_by_role("rowheader", name="Ready")).to_be_visible()
        expect(page.get_by_role("link", name="absent does not exist")).to_be_visible()
        page.get_by_role("button", name="Description of size").click()
        expect(page.get_by_text("Length in metres.")).to_be_visible()
        server.patch(f"{BOATS}/one/status", {"status": {"conditions": [{**condition, "status": "True"}]}})
        expect(problem).to_have_count(0)


def test_what_a_deployment_owns_and_the_events_of_its_pods_are_on_its_page(chromium: Browser) -> None:
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        owned = page.get_by_role("region", name="Owns")
        expect(owned.get_by_role("row")).to_have_count(4)
        expect(owned.get_by_text("Running").first).to_be_visible()
        page.get_by_role("tab", name="Events").click()
        expect(page.get_by_text("Scheduled").first).to_be_visible()
        page.get_by_role("link", name="Pod web-").first.click()
        expect(page.get_by_role("heading", level=1, name="web-")).to_be_visible()
        page.get_by_role("link", name="ReplicaSet web-").click()
        expect(page.get_by_role("link", name="Deployment web")).to_be_visible()


def test_events_of_a_failing_pod_are_counted_on_its_deployment(server: DashboardServer, chromium: Browser) -> None:
    pod = server.http.get("/api/v1/namespaces/default/pods?labelSelector=app=web").json()["items"][0]["metadata"]
    about = {"apiVersion": "v1", "kind": "Pod", "name": pod["name"], "namespace": "default", "uid": pod["uid"]}
    event = {"metadata": {"name": "fault"}, "type": "Warning", "reason": "Failed", "message": HOSTILE}
    server.create("/api/v1/namespaces/default/events", {**event, "involvedObject": about})
    with chromium.page("object/apps/v1/deployments/default/web?tab=events") as page:
        expect(page.get_by_role("tab", name="Events 1")).to_be_visible()
        expect(page.get_by_text("<img src=x onerror=")).to_be_visible()


def test_values_of_a_secret_are_absent_until_one_is_shown(chromium: Browser) -> None:
    with chromium.page("object/core/v1/secrets/default/login") as page:
        show = page.get_by_role("button", name="Show password")
        expect(show).to_be_visible()
        for text in ("hunter2", "aHVudGVyMg"):
            assert text not in page.content()
        show.click()
        expect(page.get_by_text("hunter2")).to_be_visible()
        page.get_by_role("button", name="Show binary").click()
        expect(page.get_by_text("3 bytes that are not text")).to_be_visible()
        page.get_by_role("tab", name="YAML").click()
        expect(page.get_by_role("region", name="YAML")).to_contain_text("kind: Secret")
        for text in ("hunter2", "aHVudGVyMg"):
            assert text not in page.content()
        assert "hunter2" not in page.url


def test_hostile_texts_are_shown_as_texts(server: DashboardServer, chromium: Browser) -> None:
    hostile = config_map("hostile", annotations={"note": HOSTILE}, finalizers=["harbour.example.com/hold"])
    server.create(CONFIG_MAPS, {**hostile, "data": {"key": HOSTILE, "__proto__": "polluted", "constructor": HOSTILE}})
    for tab in ("overview", "yaml", "events"):
        with chromium.page(f"object/core/v1/configmaps/default/hostile?tab={tab}") as page:
            expect(page.get_by_role("heading", name="hostile")).to_be_visible()
            if tab != "events":
                expect(page.get_by_text("<img src=x onerror=").first).to_be_visible()
            assert page.locator("main img, main script").count() == 0
            assert page.title() != "1"
            assert (
                page.evaluate("({}).polluted === undefined && Object.prototype.toString.call({})") == "[object Object]"
            )


def test_a_deleted_object_keeps_its_last_state(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("short-lived"))
    with chromium.page("object/core/v1/configmaps/default/short-lived") as page:
        expect(page.get_by_role("heading", name="short-lived")).to_be_visible()
        server.delete(f"{CONFIG_MAPS}/short-lived")
        expect(page.get_by_text("This object has been deleted")).to_be_visible()
        expect(page.get_by_text("value", exact=True)).to_be_visible()


def test_a_deleted_pod_is_not_in_progress_and_offers_nothing_that_needs_it(
    server: DashboardServer, chromium: Browser
) -> None:
    pods = "/api/v1/namespaces/default/pods"
    ports = [{"containerPort": 8080}]
    pod = {"metadata": {"name": "brief"}, "spec": {"containers": [{"name": "main", "image": "x", "ports": ports}]}}
    server.shell.features = ["ports"]
    server.create(pods, pod)
    with chromium.page("object/core/v1/pods/default/brief") as page:
        expect(page.get_by_role("button", name="Open port 8080")).to_be_visible()
        expect(page.get_by_role("tab", name="Terminal")).to_be_visible()
        server.delete(f"{pods}/brief?gracePeriodSeconds=0")
        expect(page.get_by_text("This object has been deleted")).to_be_visible()
        expect(page.get_by_text(re.compile(r"^\d+s ago\.$"))).to_be_visible()
        for text in ("In progress", "Being deleted", "The deletion waits since"):
            expect(page.get_by_text(text)).to_have_count(0)
        for name in ("Edit", "Actions", "Commands", "Open port 8080"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        for name in ("Logs", "Terminal"):
            expect(page.get_by_role("tab", name=name)).to_have_count(0)
        page.keyboard.press("e")
        page.keyboard.press("y")
        expect(page.get_by_role("tab", name="YAML")).to_have_attribute("aria-selected", "true")
        page.get_by_role("link", name="Find it among the deleted ones").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Deleted")


def test_a_stuck_deletion_names_its_finalizer(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("stuck", finalizers=["harbour.example.com/hold"]))
    server.delete(f"{CONFIG_MAPS}/stuck")
    with chromium.page("object/core/v1/configmaps/default/stuck") as page:
        expect(page.get_by_text("harbour.example.com/hold").first).to_be_visible()
        expect(page.get_by_text("Being deleted")).to_be_visible()


def test_commands_that_the_user_may_not_run_are_shown_with_the_missing_verb(
    server: DashboardServer, chromium: Browser
) -> None:
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
    server.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "reader"}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": WITHOUT_RIGHTS.name}
    binding = {"metadata": {"name": "reader"}, "roleRef": role, "subjects": [subject]}
    server.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", binding)
    server.create(CONFIG_MAPS, config_map("readable"))
    server.shell.user = WITHOUT_RIGHTS
    with chromium.page("object/core/v1/configmaps/default/readable") as page:
        page.get_by_role("button", name="Commands").click()
        expect(page.get_by_text("Needs delete on configmaps")).to_be_visible()
        expect(page.get_by_role("button", name="kubectl delete")).to_be_disabled()
        expect(page.get_by_role("button", name="kubectl describe")).to_be_enabled()


def test_rights_are_requested_once_for_a_namespace_and_precisely_for_an_open_menu(
    server: DashboardServer, chromium: Browser
) -> None:
    server.create(CONFIG_MAPS, config_map("asked"))
    server.shell.requests.clear()
    with chromium.page("object/core/v1/configmaps/default/asked") as page:
        expect(page.get_by_role("heading", name="asked")).to_be_visible()
        with page.expect_response(lambda each: '"verb":"delete"' in (each.request.post_data or "")):
            page.get_by_role("button", name="Commands").click()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Commands").click()
        expect(page.get_by_role("button", name="kubectl delete")).to_be_enabled()
        sent = [target.rpartition("/")[2] for method, target, _ in server.shell.requests if method == "POST"]
        assert sent.count("selfsubjectrulesreviews") == 1
        of_controllers = {"get /debug/controllers", "list leases"}
        of_kinds = {f"{verb} {kind}" for verb in ("list", "watch") for kind in ("CRDs", "APIServices")}
        of_menu = {"get", "list", "patch", "delete"}
        assert sent.count("selfsubjectaccessreviews") == len(of_menu | of_controllers | of_kinds)


def test_an_object_that_the_user_may_not_read_names_the_right(server: DashboardServer, chromium: Browser) -> None:
    server.shell.user = WITHOUT_RIGHTS
    with chromium.page("object/apps/v1/deployments/default/web") as page:
        expect(
            page.get_by_role("heading", name="You may not get deployments.apps in namespace default")
        ).to_be_visible()


def test_a_large_object_is_shown_in_part(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, {"metadata": {"name": "large"}, "data": {f"key-{i:05d}": "x" * 60 for i in range(8000)}})
    with chromium.page("object/core/v1/configmaps/default/large") as page:
        expect(page.get_by_role("button", name="Show all 8,000")).to_be_visible()
        page.get_by_role("tab", name="YAML").click()
        expect(page.get_by_role("region", name="YAML")).to_contain_text("key-00010")
        assert page.evaluate("document.querySelectorAll('*').length") < 3000
