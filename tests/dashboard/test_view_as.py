"""View as another user: every request has that user's rights, and a bar names the user on each page."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser, browser
from tests.dashboard.process import Running, logged_in, running_server
from tests.dashboard.samples import config_map
from tests.dashboard.test_pages import check_at_all_widths

RBAC = "/apis/rbac.authorization.k8s.io/v1"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def process(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_server(tmp_path_factory.mktemp("server") / "data", "--nodes", "0") as running:
        create(running, CONFIG_MAPS, config_map("seen"))
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
        create(running, f"{RBAC}/namespaces/default/roles", {"metadata": {"name": "maps"}, "rules": rules})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "maps"}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob"}
        binding = {"metadata": {"name": "maps"}, "roleRef": role, "subjects": [subject]}
        create(running, f"{RBAC}/namespaces/default/rolebindings", binding)
        yield running


def create(process: Running, path: str, value: dict[str, Any]) -> dict[str, Any]:
    reply = process.http.post(path, json=value)
    assert reply.status_code == 201, reply.text
    created: dict[str, Any] = reply.json()
    return created


@pytest.fixture(scope="module")
def chromium(process: Running) -> Iterator[Browser]:
    with browser(process.address) as started:
        yield started


@pytest.fixture(scope="module")
def page(process: Running, chromium: Browser) -> Iterator[Page]:
    with logged_in(chromium, process) as opened:
        yield opened


def view_as(page: Page, user: str) -> None:
    page.get_by_role("button", name="User:").click()
    page.get_by_role("button", name="View as another user").click()
    page.get_by_role("textbox", name="User", exact=True).fill(user)
    page.get_by_role("button", name="View as this user").click()


def test_each_request_has_the_rights_of_the_other_user(process: Running, page: Page) -> None:
    page.goto(f"{process.address}/dashboard/list/core/v1/configmaps")
    expect(page.get_by_role("row", name="extension-apiserver-authentication")).to_be_visible()
    view_as(page, "bob")
    bar = page.get_by_role("region", name="View as another user")
    expect(bar).to_contain_text("bob")
    sent: list[tuple[str, str | None]] = []
    page.on("request", lambda each: sent.append((each.url, each.headers.get("impersonate-user"))))
    page.get_by_role("link", name="ConfigMaps", exact=True).first.click()
    expect(page.get_by_role("row", name="seen")).to_be_visible()
    expect(page.get_by_role("row", name="extension-apiserver-authentication")).to_have_count(0)
    page.get_by_role("link", name="seen").click()
    expect(page.get_by_role("button", name="Edit")).to_contain_text("Needs patch on configmaps")
    expect(bar).to_be_visible()
    page.get_by_role("link", name="Nodes", exact=True).first.click()
    expect(page.get_by_role("heading", name="You may not list nodes in the whole cluster")).to_be_visible()
    assert {user for url, user in sent if "/api" in url} == {"bob"}
    create(process, CONFIG_MAPS, config_map("later"))
    page.get_by_role("link", name="ConfigMaps", exact=True).first.click()
    expect(page.get_by_role("row", name="later")).to_be_visible()
    check_at_all_widths(page, "view-as")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Be yourself again").click()
    expect(page.get_by_role("row", name="extension-apiserver-authentication")).to_be_visible()
    expect(bar).to_have_count(0)


def test_a_terminal_and_ports_which_would_act_as_the_user_of_the_session_are_absent(
    process: Running, page: Page
) -> None:
    page.goto(f"{process.address}/dashboard/object/core/v1/services/default/kubernetes")
    expect(page.get_by_role("button", name="Open port 443")).to_be_visible()
    view_as(page, "system:kube-scheduler")
    expect(page.get_by_role("heading", name="kubernetes")).to_be_visible()
    expect(page.get_by_role("button", name="Open port 443")).to_have_count(0)


def test_a_user_without_the_right_to_impersonate_finds_the_missing_verb(process: Running, chromium: Browser) -> None:
    account = "/api/v1/namespaces/default/serviceaccounts"
    create(process, account, {"metadata": {"name": "plain"}})
    token = create(process, f"{account}/plain/token", {"spec": {"expirationSeconds": 3600}})["status"]["token"]
    with chromium.page() as page:
        page.get_by_label("Token", exact=True).fill(token)
        page.get_by_role("button", name="Log in", exact=True).click()
        page.get_by_role("button", name="User:").click()
        expect(page.get_by_text(re.compile("Needs impersonate on users"))).to_be_visible()
