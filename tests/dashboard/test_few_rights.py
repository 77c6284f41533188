"""Users with few rights, on a real server: what they may see is shown, and no request of the page is refused."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser, browser
from tests.dashboard.process import Running, running_server
from tests.dashboard.samples import config_map

RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"
VIEW = "/apis/rbac.authorization.k8s.io/v1/clusterroles/view"
NAMESPACES = ("blue", "green", "red")


@pytest.fixture(scope="module")
def process(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_server(tmp_path_factory.mktemp("server") / "data", "--nodes", "0") as running:
        while not running.http.get(VIEW).json().get("rules"):
            continue  # a control loop fills the role after the start
        for name in NAMESPACES:
            create(running, "/api/v1/namespaces", {"metadata": {"name": name}})
            create(running, f"/api/v1/namespaces/{name}/configmaps", config_map(f"of-{name}"))
        for account in ("viewer", "single"):
            create(running, "/api/v1/namespaces/red/serviceaccounts", {"metadata": {"name": account}})
        for name in ("blue", "red"):
            bind(running, name, "viewer", {"kind": "ClusterRole", "name": "view"})
        rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["of-red"], "verbs": ["get"]}
        create(running, f"{RBAC}/red/roles", {"metadata": {"name": "one-map"}, "rules": [rule]})
        bind(running, "red", "single", {"kind": "Role", "name": "one-map"})
        yield running


@pytest.fixture(scope="module")
def chromium(process: Running) -> Iterator[Browser]:
    with browser(process.address) as started:
        yield started


def create(process: Running, path: str, value: dict[str, Any]) -> dict[str, Any]:
    reply = process.http.post(path, json=value)
    assert reply.status_code == 201, reply.text
    created: dict[str, Any] = reply.json()
    return created


def bind(process: Running, namespace: str, account: str, role: dict[str, str]) -> None:
    subject = {"kind": "ServiceAccount", "name": account, "namespace": "red"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", **role}
    binding = {"metadata": {"name": account}, "roleRef": reference, "subjects": [subject]}
    create(process, f"{RBAC}/{namespace}/rolebindings", binding)


@contextmanager
def logged_in(process: Running, chromium: Browser, account: str) -> Iterator[tuple[Page, list[str]]]:
    """Open the overview as a service account. Yield the page, and the requests that were refused."""
    path = f"/api/v1/namespaces/red/serviceaccounts/{account}/token"
    token = create(process, path, {"spec": {"expirationSeconds": 3600}})["status"]["token"]
    with chromium.page() as page:
        refused: list[str] = []
        page.on("response", lambda each: refused.append(each.url) if each.status == 403 else None)
        page.get_by_label("Token", exact=True).fill(token)
        page.get_by_role("button", name="Log in", exact=True).click()
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        yield page, refused


def test_a_user_with_two_role_bindings_sees_two_namespaces_and_no_request_is_refused(
    process: Running, chromium: Browser
) -> None:
    with logged_in(process, chromium, "viewer") as (page, refused):
        expect(page.locator(".tile", has_text="ConfigMaps")).to_contain_text("4")
        expect(page.locator(".tile", has_text="Nodes")).to_contain_text("–")
        page.goto(f"{process.address}/dashboard/list/core/v1/configmaps?sort=Name")
        shown = ["kube-root-ca.crt", "kube-root-ca.crt", "of-blue", "of-red"]
        expect(page.locator(".grid-body .cell-name")).to_have_text(shown)
        page.get_by_role("button", name="Namespaces: All namespaces").click()
        expect(page.get_by_role("checkbox")).to_have_count(3)
        page.keyboard.press("Escape")
        page.get_by_role("link", name="of-red").click()
        page.get_by_role("tab", name="Relations").click()
        expect(page.get_by_text("Not read, because you may not list them: Nodes,")).to_be_visible()
        assert refused == []


def test_a_right_to_get_one_object_alone_shows_its_page(process: Running, chromium: Browser) -> None:
    with logged_in(process, chromium, "single") as (page, _):
        page.goto(f"{process.address}/dashboard/object/core/v1/configmaps/red/of-red")
        expect(page.get_by_role("heading", name="of-red")).to_be_visible()
        expect(page.get_by_text("value", exact=True)).to_be_visible()
        page.goto(f"{process.address}/dashboard/object/core/v1/configmaps/red/kube-root-ca.crt")
        expect(page.get_by_role("heading", name="You may not get configmaps in namespace red")).to_be_visible()
