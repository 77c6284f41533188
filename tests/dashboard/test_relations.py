"""Relations of an object: the tree of owners, the graph and the table."""

import json
import re
import subprocess
import sys
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from sampan.server.request import UserInfo
from tests.dashboard.browser import Browser
from tests.dashboard.many_relations import GRAPH, PODS, ManyRelations
from tests.dashboard.relations import create_owned, create_port, owned_by
from tests.dashboard.samples import config_map, crd
from tests.dashboard.server import DashboardServer, picture_folder
from tests.dashboard.test_pages import check_at_all_widths

NODES = 2
PIER: Final = "object/apps/v1/deployments/pier/pier?tab=relations"
QUAY: Final = "object/apps/v1/deployments/port/quay?tab=relations"
SERVICE: Final = "object/core/v1/services/port/quay?tab=relations&view=graph&all=1"
FULL: Final = UserInfo("fisher", groups=("system:authenticated",))
POSITIONS: Final = """Object.fromEntries([...document.querySelectorAll('.gnode')].map((node) =>
  [node.dataset.node, node.getAttribute('transform')]))"""
LAYOUTS: Final = "performance.getEntriesByName('sampan relations layout').length"


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    create_owned(server, "pier", bad="pier-b")
    create_port(server)
    make_pods_of_quay(server)


def make_pods_of_quay(server: DashboardServer) -> None:
    """Create the Pods of the Deployment by hand: no control loop runs."""
    apps, pods = "/apis/apps/v1/namespaces/port", "/api/v1/namespaces/port/pods"
    quay = server.http.get(f"{apps}/deployments/quay").json()
    spec = {"replicas": 2, "selector": quay["spec"]["selector"], "template": quay["spec"]["template"]}
    metadata = {"name": "quay-1", "ownerReferences": [owned_by(quay)]}
    [owner] = server.create(f"{apps}/replicasets", {"metadata": metadata, "spec": spec})
    for name in ("quay-a", "quay-b"):
        about = {"name": name, "labels": {"app": "quay"}, "ownerReferences": [owned_by(owner)]}
        pod = {"metadata": about, "spec": {**quay["spec"]["template"]["spec"], "nodeName": "node-1"}}
        server.create(pods, pod)
        server.patch(f"{pods}/{name}/status", {"status": {"phase": "Running"}})


def tree_lines(page: Page) -> list[tuple[str, str]]:
    """Return the level and the beginning of the name of each line."""
    items = page.get_by_role("treeitem").all()
    return [
        (str(each.get_attribute("aria-level")), str(each.get_attribute("aria-label")).partition(",")[0])
        for each in items
    ]


def test_the_tree_agrees_with_kubectl_sampan_tree(server: DashboardServer, chromium: Browser) -> None:
    token = server.http.headers["Authorization"].partition(" ")[2]
    command = [sys.executable, "-m", "sampan.cli.kubectl", "tree", "deployment/pier", "-n", "pier", "-o", "json"]
    options = ["-s", server.address, "--token", token, "--insecure-skip-tls-verify"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    items = json.loads(done.stdout)["items"]
    levels: dict[str, int] = {}
    expected = []
    for each in items:
        levels[each["uid"]] = levels.get(each.get("owner", ""), 0) + 1
        expected.append((str(levels[each["uid"]]), f"{each['kind']} {each['name']}"))
    with chromium.page(PIER) as page:
        expect(page.get_by_role("treeitem")).to_have_count(len(expected))
        assert tree_lines(page) == expected


def test_a_bad_pod_makes_its_owners_bad(chromium: Browser) -> None:
    with chromium.page(PIER) as page:
        deployment = page.get_by_role("treeitem", name="Deployment pier")
        expect(deployment).to_have_attribute("aria-label", re.compile("1 problem below"))
        expect(deployment.locator(".node-label .icon.bad")).to_have_count(1)
        expect(page.get_by_role("treeitem", name="Pod pier-b, Problem: Failed")).to_be_visible()
        expect(page.get_by_role("button", name="Problems 1")).to_be_visible()


def test_a_bad_pod_reddens_a_custom_resource_that_owns_it_live(server: DashboardServer, chromium: Browser) -> None:
    server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd())
    path = "/apis/harbour.example.com/v1/namespaces/pier/boats"
    boat = {"apiVersion": "harbour.example.com/v1", "kind": "Boat", "metadata": {"name": "one"}}
    for _ in range(100):
        response = server.http.post(path, json=boat)
        if response.status_code == 201:
            break
    spec = {"containers": [{"name": "main", "image": "boat:1"}]}
    metadata = {"name": "sailor", "ownerReferences": [owned_by(response.json())]}
    server.create("/api/v1/namespaces/pier/pods", {"metadata": metadata, "spec": spec})
    status = "/api/v1/namespaces/pier/pods/sailor/status"
    server.patch(status, {"status": {"phase": "Running"}})
    with chromium.page("object/harbour.example.com/v1/boats/pier/one?tab=relations") as page:
        own = page.get_by_role("treeitem", name="Boat one, this object")
        expect(page.get_by_role("treeitem", name="Pod sailor")).to_be_visible()
        expect(own.locator(".icon.bad")).to_have_count(0)
        server.patch(status, {"status": {"phase": "Failed"}})
        expect(own.locator(".icon.bad")).to_have_count(1)


def test_the_tree_of_a_pod_begins_with_its_topmost_owner(chromium: Browser) -> None:
    with chromium.page("object/core/v1/pods/pier/pier-a?tab=relations") as page:
        expect(page.get_by_role("treeitem", name="Pod pier-a, this object")).to_be_visible()
        assert tree_lines(page) == [("1", "Deployment pier"), ("2", "ReplicaSet pier-1"), ("3", "Pod pier-a")]


def test_keys_move_fold_search_and_open_in_the_tree(chromium: Browser) -> None:
    with chromium.page(PIER) as page:
        tree = page.get_by_role("tree", name="Owners and owned objects")
        active = page.locator('[role=treeitem][aria-selected="true"]')
        tree.focus()
        for key, name in {
            "End": "Pod pier-c",
            "Home": "Deployment pier",
            "ArrowRight": "ReplicaSet pier-1",
            "ArrowDown": "Pod pier-a",
            "ArrowUp": "ReplicaSet pier-1",
        }.items():
            page.keyboard.press(key)
            expect(active).to_have_attribute("aria-label", re.compile(f"^{name},"))
        page.keyboard.press("ArrowLeft")
        expect(active).to_have_attribute("aria-expanded", "false")
        expect(page.get_by_role("treeitem")).to_have_count(2)
        page.keyboard.press("ArrowLeft")
        expect(active).to_have_attribute("aria-label", re.compile("^Deployment"))
        page.keyboard.press("*")
        expect(page.get_by_role("treeitem")).to_have_count(5)
        page.keyboard.type("pier-c")
        expect(active).to_have_attribute("aria-label", re.compile("^Pod pier-c"))
        assert tree.get_attribute("aria-activedescendant") == active.get_attribute("id")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("pods/pier/pier-c\\?tab=relations"))


def test_only_problems_keeps_what_leads_to_them(chromium: Browser) -> None:
    with chromium.page(PIER) as page:
        page.get_by_role("button", name="Problems").click()
        expect(page.get_by_role("treeitem")).to_have_count(3)
        expect(page).to_have_url(re.compile("problems=1"))


def test_the_table_has_every_relation_with_its_reason(chromium: Browser) -> None:
    with chromium.page(f"{QUAY}&view=table", height=2400) as page:
        for row in (
            "ReplicaSet quay-1 owns ownerReference (controller) Pod quay-a",
            "Service quay selects spec.selector: app=quay Pod quay-a",
            "Ingress quay refers to spec.rules[0].http.paths[0].backend.service.name Service quay",
            "HorizontalPodAutoscaler quay refers to spec.scaleTargetRef.name Deployment quay",
            "Pod quay-a refers to spec.nodeName Node node-1",
            "PersistentVolumeClaim store refers to spec.volumeName, spec.claimRef.name PersistentVolume disk",
            "RoleBinding readers refers to roleRef.name Role reader",
            "RoleBinding readers refers to subjects[1].name User jane",
        ):
            expect(page.get_by_role("row", name=row).first).to_be_visible()
        page.get_by_label("Filter the objects").fill("absent")
        expect(page.get_by_role("row", name="Secret absent does not exist").first).to_be_visible()


def test_the_table_is_sorted_by_any_column(chromium: Browser) -> None:
    with chromium.page(f"{QUAY}&view=table") as page:
        page.get_by_role("button", name="Sort by Health").click()
        expect(page.get_by_role("columnheader", name="Health")).to_have_attribute("aria-sort", "ascending")
        expect(page.get_by_role("row").nth(1)).to_contain_text("does not exist")
        page.get_by_role("button", name="Sort by Health").click()
        expect(page).to_have_url(re.compile("sort=-health"))
        expect(page.get_by_role("row").nth(1)).not_to_contain_text("does not exist")


def test_lines_and_nodes_of_the_graph_have_names_and_reasons(chromium: Browser) -> None:
    with chromium.page(f"{QUAY}&view=graph") as page:
        expect(page.get_by_role("button", name="Deployment quay, this object")).to_be_visible()
        line = page.get_by_role("img", name="Service quay selects Pod quay-a: spec.selector: app=quay")
        expect(line).to_have_count(1)
        assert line.locator("title").text_content() == "Service quay selects Pod quay-a: spec.selector: app=quay"
        expect(page.get_by_role("button", name="Secret absent, does not exist")).to_have_count(1)
        expect(page.get_by_role("button", name="Node node-1")).to_have_count(1)


def test_texts_of_the_graph_fit_into_their_nodes(chromium: Browser) -> None:
    with chromium.page(f"{QUAY}&view=graph&all=1") as page:
        expect(page.locator(".gname").first).to_be_visible(timeout=60_000)
        widest = """Math.max(...[...document.querySelectorAll(".gname, .gkind")]
            .map((each) => each.getBBox().x + each.getBBox().width
              - Number(each.closest(".gnode").querySelector(".box").getAttribute("width"))))"""
        assert page.evaluate(widest) <= 0


def test_a_path_is_chosen_with_the_keyboard_and_read_out(chromium: Browser) -> None:
    with chromium.page(SERVICE) as page:
        service = page.locator('[data-node="Service/port/quay"]')
        expect(service).to_be_visible()
        service.focus()
        page.keyboard.press("p")
        expect(page.get_by_role("complementary")).to_contain_text("Path from Service quay: choose its end")
        page.locator('[data-node="Node//node-1"]').focus()
        page.keyboard.press("p")
        text = (
            "Path with 2 relations: Service quay, Pod quay-a by spec.selector: app=quay, Node node-1 by spec.nodeName"
        )
        expect(page.get_by_role("status").filter(has_text=text)).to_have_count(1)
        expect(page.locator(".gedge.marked")).to_have_count(2)
        expect(page).to_have_url(re.compile("from=Service/port/quay&to=Node//node-1"))
        page.reload()
        expect(page.locator(".gedge.marked")).to_have_count(2)
        page.locator('[data-node="Node//node-1"]').focus()
        page.keyboard.press("Escape")
        expect(page.get_by_role("complementary")).to_have_count(0)


def test_arrow_keys_follow_relations_and_enter_shows_the_reasons(chromium: Browser) -> None:
    with chromium.page(f"{QUAY}&view=graph") as page:
        own = page.get_by_role("button", name="Deployment quay, this object")
        expect(own).to_be_visible()
        own.focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator(":focus")).to_have_attribute("data-node", "HorizontalPodAutoscaler.autoscaling/port/quay")
        page.keyboard.press("Enter")
        panel = page.get_by_role("complementary", name="What is chosen")
        expect(panel).to_contain_text("spec.scaleTargetRef.name")
        before = page.locator(".graph-svg > g").get_attribute("transform")
        page.keyboard.press("+")
        expect(page.locator(".graph-svg > g")).not_to_have_attribute("transform", str(before))
        page.keyboard.press("0")
        page.keyboard.press("o")
        expect(page.get_by_role("heading", level=1, name="quay")).to_be_visible()
        expect(page).to_have_url(re.compile("horizontalpodautoscalers/port/quay"))


def test_a_new_object_moves_no_other_one(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page(f"{QUAY}&view=graph&all=1") as page:
        expect(page.get_by_role("button", name="Deployment quay, this object")).to_be_visible()
        page.keyboard.press("0")
        before = page.evaluate(POSITIONS)
        owner = server.http.get("/apis/apps/v1/namespaces/port/deployments/quay").json()
        server.create("/api/v1/namespaces/port/configmaps", config_map("fresh", ownerReferences=[owned_by(owner)]))
        expect(page.locator('[data-node="ConfigMap/port/fresh"]')).to_have_count(1)
        after: dict[str, Any] = page.evaluate(POSITIONS)
        assert after.pop("ConfigMap/port/fresh")
        assert after == before
        server.delete("/api/v1/namespaces/port/configmaps/fresh")
        expect(page.locator('[data-node="ConfigMap/port/fresh"]')).to_have_count(0)
        assert page.evaluate(POSITIONS) == before


def test_values_of_secrets_are_not_read(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page(f"{QUAY}&view=table") as page:
        bodies = []
        page.on(
            "response",
            lambda each: bodies.append(each.text()) if "/secrets" in each.url and "watch" not in each.url else None,
        )
        page.reload()
        expect(page.get_by_role("row").nth(2)).to_be_visible()
        assert bodies
        assert not any("aHVudGVyMg" in body for body in bodies)


def test_kinds_that_the_user_may_not_list_are_named(server: DashboardServer, chromium: Browser) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/pier"
    rules = [{"apiGroups": ["apps"], "resources": ["deployments", "replicasets"], "verbs": ["get", "list", "watch"]}]
    server.create(f"{rbac}/roles", {"metadata": {"name": "fisher"}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "fisher"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": FULL.name}
    server.create(f"{rbac}/rolebindings", {"metadata": {"name": "fisher"}, "roleRef": role, "subjects": [subject]})
    server.shell.user = FULL
    with chromium.page(PIER) as page:
        expect(page.get_by_role("treeitem")).to_have_count(2)
        note = page.get_by_role("status").filter(has_text="Not read, because you may not list them:")
        expect(note).to_contain_text("ConfigMaps, Endpoints")
        expect(note).to_contain_text("more")


@pytest.mark.parametrize("view", ["tree", "graph", "table"])
def test_a_view_is_accessible_and_fits_each_window_in_both_themes(chromium: Browser, view: str) -> None:
    with chromium.page(f"{QUAY}&view={view}&node=Service/port/quay") as page:
        shown = {"tree": ".tree-row", "graph": ".gnode", "table": ".relation-body .relation-row"}[view]
        expect(page.locator(shown).first).to_be_visible()
        check_at_all_widths(page, f"relations-{view}")


def test_five_thousand_relations_are_folded_and_groups_open_in_place(
    server: DashboardServer, chromium: Browser
) -> None:
    many = ManyRelations(server, 1000)
    server.shell.replaced[PODS] = many.response
    with chromium.page(GRAPH) as page:
        expect(page.get_by_text("5,010 relations")).to_be_visible(timeout=60_000)
        groups = page.locator(".gnode.group")
        expect(groups.first).to_be_visible()
        assert page.locator(".gnode").count() < 60
        page.screenshot(path=picture_folder() / "relations-5000.png")
        before = page.evaluate(POSITIONS)
        layouts = page.evaluate(LAYOUTS)
        name = groups.first.get_attribute("data-node")
        groups.first.focus()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"open={name}"))
        expect(page.locator(".gnode:focus")).to_have_attribute("data-node", re.compile("Pod/many/web-"))
        page.keyboard.press("0")
        expect(page.locator(".gnode").nth(55)).to_be_attached()
        after = page.evaluate(POSITIONS)
        assert {key: after[key] for key in before if key in after} == {
            key: before[key] for key in before if key in after
        }
        many.added.append(many.row(1000))
        expect(page.get_by_text("5,015 relations")).to_be_visible()
        assert page.evaluate(LAYOUTS) == layouts + 1
