"""The page of `sampan up`: the printed link, the session's cookie, one stream for all watches, the logout."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser, browser
from tests.dashboard.process import Running, logged_in, running_server
from tests.dashboard.samples import config_map

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def process(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start `sampan up` with a new data directory."""
    with running_server(tmp_path_factory.mktemp("server") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def chromium(process: Running) -> Iterator[Browser]:
    """Return a browser for the server process."""
    with browser(process.address) as started:
        yield started


@pytest.fixture(scope="module")
def page(process: Running, chromium: Browser) -> Iterator[Page]:
    """Return a page that the one-time link has logged in."""
    with logged_in(chromium, process) as opened:
        yield opened


def test_the_link_leaves_no_credential_in_the_page(page: Page, process: Running) -> None:
    assert page.url == f"{process.address}/dashboard/"
    code = process.link.partition("#")[2]
    stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert code not in stored
    cookies = page.context.cookies()
    assert [(each["httpOnly"], each["secure"], each["sameSite"]) for each in cookies] == [(True, True, "Strict")]


def test_all_watches_share_one_stream(page: Page, process: Running) -> None:
    sockets: list[str] = []
    watches: list[str] = []
    page.goto("about:blank")  # the page before may still open its socket
    page.on("websocket", lambda socket: sockets.append(socket.url))
    page.on("request", lambda request: watches.append(request.url) if "watch=1" in request.url else None)
    page.goto(f"{process.address}/dashboard/list/core/v1/configmaps?ns=default,kube-system,kube-public")
    expect(page.get_by_role("heading", name="ConfigMaps", level=1)).to_be_visible()
    process.http.post(CONFIG_MAPS, json=config_map("streamed")).raise_for_status()
    expect(page.get_by_role("row", name="streamed")).to_be_visible()
    process.http.delete(f"{CONFIG_MAPS}/streamed").raise_for_status()
    expect(page.get_by_role("row", name="streamed")).to_have_count(0)
    assert len(sockets) == 1
    assert watches == []


def test_the_palette_finds_objects_of_all_kinds(page: Page, process: Running) -> None:
    process.http.post(CONFIG_MAPS, json=config_map("harbour-map")).raise_for_status()
    page.goto(f"{process.address}/dashboard/list/core/v1/namespaces")
    expect(page.get_by_role("row", name="kube-public")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("our-map")
    page.get_by_role("option", name="harbour-map ConfigMap").click()
    expect(page.get_by_role("heading", name="harbour-map")).to_be_visible()
    process.http.delete(f"{CONFIG_MAPS}/harbour-map").raise_for_status()


def test_a_worker_arranges_the_graph_of_relations_under_the_policy_of_the_server(
    page: Page, process: Running, chromium: Browser
) -> None:
    page.goto(f"{process.address}/dashboard/object/core/v1/services/default/kubernetes?tab=relations&view=graph")
    expect(page.get_by_role("button", name="Service kubernetes, this object")).to_be_visible(timeout=60_000)
    assert chromium.faults == []
    with page.expect_console_message(lambda message: "trusted-types" in message.text):
        refused = page.evaluate(
            "(() => { try { new Worker('/x.js'); return 'made'; } catch (error) { return error.name; } })()"
        )
    assert refused == "TypeError"
    chromium.faults.clear()  # the refusal is the one that the test wants


def test_a_user_with_rights_in_one_namespace_sees_it_without_a_refusal(process: Running, chromium: Browser) -> None:
    account = {"metadata": {"name": "reader"}}
    process.http.post("/api/v1/namespaces/default/serviceaccounts", json=account).raise_for_status()
    process.http.post(CONFIG_MAPS, json=config_map("mine")).raise_for_status()
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
    namespace = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    process.http.post(f"{namespace}/roles", json={"metadata": {"name": "reader"}, "rules": rules}).raise_for_status()
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": "default"}
    binding = {"metadata": {"name": "reader"}, "roleRef": role, "subjects": [subject]}
    process.http.post(f"{namespace}/rolebindings", json=binding).raise_for_status()
    request = {"spec": {"expirationSeconds": 3600}}
    made = process.http.post("/api/v1/namespaces/default/serviceaccounts/reader/token", json=request).json()
    with chromium.page("list/core/v1/configmaps") as page:
        refused: list[str] = []
        page.on("response", lambda each: refused.append(each.url) if each.status == 403 else None)
        page.get_by_label("Token", exact=True).fill(made["status"]["token"])
        page.get_by_role("button", name="Log in", exact=True).click()
        expect(page.get_by_role("row", name="mine")).to_be_visible()
        assert [url for url in refused if "configmaps" in url] == []


@pytest.mark.usefixtures("page")  # it uses the link
def test_a_refused_login_explains_what_is_not_valid(process: Running, chromium: Browser) -> None:
    with chromium.page(process.link) as page:
        expect(page.get_by_role("alert")).to_contain_text("The link has been used, or is older than ten minutes")
        page.get_by_label("Token", exact=True).fill("wrong")
        page.get_by_role("button", name="Log in", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("The token is not valid here")


def test_a_user_may_create_where_a_role_binding_allows_it(process: Running, chromium: Browser) -> None:
    process.http.post("/api/v1/namespaces", json={"metadata": {"name": "team"}}).raise_for_status()
    process.http.post(
        "/api/v1/namespaces/team/serviceaccounts", json={"metadata": {"name": "author"}}
    ).raise_for_status()
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}
    subject = {"kind": "ServiceAccount", "name": "author", "namespace": "team"}
    binding = {"metadata": {"name": "author"}, "roleRef": role, "subjects": [subject]}
    bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/team/rolebindings"
    process.http.post(bindings, json=binding).raise_for_status()
    request = {"spec": {"expirationSeconds": 3600}}
    made = process.http.post("/api/v1/namespaces/team/serviceaccounts/author/token", json=request).json()
    with chromium.page("list/core/v1/secrets") as page:
        page.get_by_label("Token", exact=True).fill(made["status"]["token"])
        page.get_by_role("button", name="Log in", exact=True).click()
        expect(page.get_by_text("There are none in the namespaces that you may read.")).to_be_visible()
        expect(page.get_by_role("button", name="Create")).to_be_visible()
        expect(page.get_by_role("button", name="Create")).not_to_have_attribute("aria-disabled", "true")


def test_an_administrator_ends_a_session_on_the_page(page: Page, process: Running, chromium: Browser) -> None:
    token = process.http.headers["authorization"].removeprefix("Bearer ")
    with chromium.page("list/core/v1/configmaps?ns=default", user_agent="Other/1.0") as other:
        other.get_by_label("Token", exact=True).fill(token)
        other.get_by_role("button", name="Log in", exact=True).click()
        expect(other.get_by_role("heading", name="ConfigMaps", level=1)).to_be_visible()
        page.goto(f"{process.address}/dashboard/")
        page.get_by_role("button", name="User: ").click()
        page.get_by_role("link", name="Sessions of this server").click()
        expect(page.get_by_role("row", name="this session")).to_contain_text("One-time link")
        page.get_by_role("row", name="Other/1.0").get_by_role("button", name="End the session of").click()
        page.get_by_role("dialog").get_by_role("button", name="End", exact=True).click()
        expect(page.get_by_role("row", name="Other/1.0")).to_have_count(0)
        expect(other.get_by_text("The session has ended.")).to_be_visible()
        other.get_by_label("Token", exact=True).fill(token)
        other.get_by_role("button", name="Log in", exact=True).click()
        expect(other.get_by_role("heading", name="ConfigMaps", level=1)).to_be_visible()
        assert other.url.endswith("configmaps?ns=default")


def test_a_logout_ends_the_session_and_shows_the_login(page: Page) -> None:
    page.get_by_role("button", name="User: ").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in to the cluster")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Log in to the cluster")).to_be_visible()
    assert page.context.cookies() == []
