"""Lists: the server's columns, live rows, the filter language, order by value, problems, namespaces, refusals."""

import re
import time
from typing import Any
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from sampan.server.request import UserInfo
from tests.dashboard.browser import Browser
from tests.dashboard.samples import config_map, crd
from tests.dashboard.server import DashboardServer

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BOATS = "/apis/harbour.example.com/v1/namespaces/default/boats"
LIMITED = UserInfo("limited", groups=("system:authenticated",))
WITHOUT_RIGHTS = UserInfo("guest", groups=("system:authenticated",))
NAMESPACES = ("blue", "green", "red")


def boat(name: str, size: int) -> dict[str, Any]:
    kind = {"apiVersion": "harbour.example.com/v1", "kind": "Boat"}
    return {**kind, "metadata": {"name": name, "labels": {"size": str(size)}}, "spec": {"size": size}}


def bind(server: DashboardServer, user: str, namespace: str) -> None:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
    binding = {"metadata": {"name": f"{user}-view"}, "roleRef": role, "subjects": [subject]}
    server.create(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings", binding)


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    labelled = config_map("labelled", labels={"app": "web"})
    server.create(CONFIG_MAPS, config_map("alpha"), config_map("beta"), labelled)
    for name in NAMESPACES:
        server.create("/api/v1/namespaces", {"metadata": {"name": name}})
        server.create(f"/api/v1/namespaces/{name}/configmaps", config_map(f"of-{name}"))
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}
    role = {"metadata": {"name": "reader"}, "rules": [rule]}
    server.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
    bind(server, LIMITED.name, "blue")
    bind(server, LIMITED.name, "green")
    server.create(CRDS, crd())
    for _ in range(100):
        if server.http.post(BOATS, json=boat("v1.9", 9)).status_code == 201:
            break
        time.sleep(0.05)
    server.create(BOATS, boat("v1.10", 100), boat("large", 20))


def names(page: Page) -> list[str]:
    """Return the names in the shown rows."""
    return page.locator(".grid-body .cell-name").all_inner_texts()


def filter_by(page: Page, text: str) -> None:
    page.get_by_label("Filter", exact=True).fill(text)
    page.keyboard.press("Enter")


def expect_names(page: Page, *expected: str) -> None:
    expect(page.locator(".grid-body .cell-name")).to_have_text(list(expected))


def test_rows_follow_the_server(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default") as page:
        expect_names(page, "alpha", "beta", "labelled")
        server.create(CONFIG_MAPS, config_map("born"))
        expect_names(page, "alpha", "beta", "born", "labelled")
        server.delete(f"{CONFIG_MAPS}/born")
        expect_names(page, "alpha", "beta", "labelled")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alp", ["alpha"]),
        ("-alpha -beta", ["labelled"]),
        ("app=web", ["labelled"]),
        ("app!=web", ["alpha", "beta"]),
        ("label:app", ["labelled"]),
        ("metadata.name=beta", ["beta"]),
        ("/^(al|be)/", ["alpha", "beta"]),
        ("-/^a/ /a$/", ["beta"]),
        ("age<1h col:Data=1 alpha", ["alpha"]),
        ("age>1h", []),
        ("col:Data>1", []),
        ("ns:fault", ["alpha", "beta", "labelled"]),
        ("__proto__", []),
        ("constructor=x", []),
    ],
)
def test_a_filter_selects(chromium: Browser, text: str, expected: list[str]) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default") as page:
        expect(page.get_by_role("grid")).to_be_visible()
        filter_by(page, text)
        if expected:
            expect_names(page, *expected)
        else:
            expect(page.get_by_role("heading", name=re.compile("Nothing matches|No ConfigMaps"))).to_be_visible()


def test_labels_and_fields_are_selected_by_the_server(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default") as page:
        expect(page.get_by_role("grid")).to_be_visible()
        filter_by(page, "app=web metadata.name=labelled label")
        expect_names(page, "labelled")
    lists = [unquote(target) for _, target, _ in server.shell.requests if "configmaps?" in target]
    assert any("labelSelector=app=web" in each and "fieldSelector=metadata.name=labelled" in each for each in lists)


def test_a_chip_is_removed(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default&q=alpha+age<1h") as page:
        expect_names(page, "alpha")
        page.get_by_role("button", name="Remove alpha").click()
        expect_names(page, "alpha", "beta", "labelled")
        expect(page.get_by_label("Filter", exact=True)).to_have_value("age<1h")


def test_an_unknown_column_and_a_wrong_age_are_reported_on_their_chips(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps?q=col:Colour=red+age<soon") as page:
        expect(page.get_by_text("No column has the name Colour")).to_be_visible()
        expect(page.get_by_text("Not an age: age<soon.")).to_be_visible()


def test_rows_are_sorted_by_value_and_empty_cells_stay_last(chromium: Browser) -> None:
    with chromium.page("list/harbour.example.com/v1/boats?sort=Size") as page:
        expect_names(page, "v1.9", "large", "v1.10")
        page.get_by_role("button", name="Sort by Size").click()
        expect_names(page, "v1.10", "large", "v1.9")
        page.get_by_role("button", name="Sort by Name", exact=True).click()
        expect_names(page, "large", "v1.9", "v1.10")


def test_a_new_column_of_a_crd_appears(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("list/harbour.example.com/v1/boats") as page:
        expect(page.get_by_role("columnheader")).to_have_count(4)
        changed = crd(name="Captain", path=".spec.captain")
        server.patch(f"{CRDS}/boats.harbour.example.com", {"spec": changed["spec"]})
        expect(page.get_by_role("columnheader", name="Captain")).to_be_visible(timeout=10_000)


def test_several_namespaces_are_shown_together(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps") as page:
        page.get_by_role("button", name="Namespaces: All namespaces").click()
        page.get_by_role("checkbox", name="blue").check()
        page.get_by_role("checkbox", name="red").check()
        expect(page).to_have_url(re.compile("ns=blue,red"))
        expect_names(page, "of-blue", "of-red")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Namespaces: 2 namespaces")).to_be_focused()


def test_a_user_with_two_role_bindings_sees_two_namespaces_and_no_refusal(
    server: DashboardServer, chromium: Browser
) -> None:
    server.shell.user = LIMITED
    server.shell.features = ["namespaces"]
    reviewed = {"allNamespaces": False, "namespaces": ["blue", "green"], "incomplete": False}
    server.shell.replaced["/apis/sampan.dev/v1alpha1/selfnamespacesreviews"] = {"status": reviewed}
    server.shell.requests.clear()
    with chromium.page("list/core/v1/configmaps") as page:
        expect_names(page, "of-blue", "of-green")
        refused = [each for each in server.shell.requests if each[2] == 403]
        assert refused == []
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy kubectl command").click()
        commands = [f"kubectl get configmaps --namespace={name}" for name in ("blue", "green")]
        assert page.evaluate("navigator.clipboard.readText()") == "; ".join(commands)


def test_a_refusal_names_verb_resource_and_role(server: DashboardServer, chromium: Browser) -> None:
    server.shell.user = WITHOUT_RIGHTS
    with chromium.page("list/core/v1/pods?ns=red") as page:
        expect(page.get_by_role("heading", name="You may not list pods in namespace red")).to_be_visible()
        expect(page.get_by_text("--clusterrole=view --user=guest --namespace=red")).to_be_visible()


def test_problems_are_shown_alone(server: DashboardServer, chromium: Browser) -> None:
    condition = {"type": "Ready", "status": "False", "reason": "Leak", "lastTransitionTime": "2026-01-02T03:04:05Z"}
    server.patch(f"{BOATS}/large/status", {"status": {"conditions": [condition]}})
    with chromium.page("list/harbour.example.com/v1/boats") as page:
        page.get_by_role("button", name="Problems").click()
        expect_names(page, "large")


def test_the_copied_command_gives_the_same_rows(chromium: Browser) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default&q=app=web") as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy kubectl command").click()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == "kubectl get configmaps --namespace=default --selector=app=web"


def test_an_error_keeps_all_its_causes(server: DashboardServer, chromium: Browser) -> None:
    causes = [{"field": f"spec.part{i}", "message": f"fault {i}", "reason": "FieldValueInvalid"} for i in range(3)]
    status = {"kind": "Status", "code": 422, "reason": "Invalid", "message": "x" * 65_536 + "\x1b", "details": {}}
    status["details"] = {"causes": causes}
    server.shell.refuse("/api/v1/secrets", 422, status)
    with chromium.page("list/core/v1/secrets") as page:
        alert = page.get_by_role("alert")
        for i in range(3):
            expect(alert).to_contain_text(f"spec.part{i} fault {i}")
        assert len(alert.inner_text()) < 5000


def test_on_a_phone_a_title_has_one_line_and_no_cell_is_cut(server: DashboardServer, chromium: Browser) -> None:
    statuses = [{"name": "main", "restartCount": 12, "ready": False, "image": "a", "imageID": ""}]
    waiting = {"waiting": {"reason": "CreateContainerConfigError", "message": "settings"}}
    pod = {"metadata": {"name": "waiting"}, "spec": {"containers": [{"name": "main", "image": "a"}]}}
    server.create("/api/v1/namespaces/default/pods", pod)
    path = "/api/v1/namespaces/default/pods/waiting/status"
    server.patch(path, {"status": {"phase": "Running", "containerStatuses": [{**statuses[0], "state": waiting}]}})
    with chromium.page("list/core/v1/pods?ns=default", width=360) as page:
        row = page.get_by_role("row", name="waiting")
        expect(row).to_contain_text("CreateContainerConfigError")
        title = page.get_by_role("heading", name="Pods", level=1).bounding_box()
        assert title is not None
        assert title["height"] < 40
        bottom = row.evaluate("(row) => row.getBoundingClientRect().bottom")
        edges = "(row) => [...row.children].map((e) => e.getBoundingClientRect()).map((r) => [r.top, r.bottom])"
        cut = [each for each in row.evaluate(edges) if each[0] < bottom < each[1]]
        assert cut == []
