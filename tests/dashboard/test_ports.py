"""Ports of Pods as links: the page of a Pod works in its sandbox, and reaches nothing of the dashboard."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser, browser
from tests.dashboard.hostile_pod import HostilePod, hostile_pod
from tests.dashboard.process import Running, logged_in, running_server

PODS = "/api/v1/namespaces/default/pods"
ATTACKS = {
    "read the API": "async () => (await fetch('/api/v1/namespaces/kube-system/secrets')).status",
    "read the API with cookies": "async () => (await fetch('/api/v1/secrets', {credentials: 'include'})).status",
    "send the header of the page": (
        "async () => (await fetch('/api/v1/secrets', {credentials: 'include', headers: {'X-Sampan-Page': '1'}})).status"
    ),
    "read the session": "async () => (await fetch('/dashboard/session', {credentials: 'include'})).text()",
    "read the cookies": "() => document.cookie",
    "set a cookie": "() => { document.cookie = 'a=b; path=/'; return 'set'; }",
    "read the storage of the page": "() => localStorage.length",
    "read the storage of the tab": "() => sessionStorage.length",
    "open a database": "() => indexedDB.open('a').readyState",
    "read caches": "async () => (await caches.keys()).length",
    "install a service worker": "async () => (await navigator.serviceWorker.register('worker.js')).scope",
    "read the window that opened it": "() => window.opener.location.href",
    "open a link to another port": (
        "async () => (await fetch('/dashboard/ports', {method: 'POST', credentials: 'include', body: '{}'})).status"
    ),
}


@pytest.fixture(scope="module")
def pod() -> Iterator[HostilePod]:
    """Start the server of the Pod."""
    with hostile_pod() as started:
        yield started


@pytest.fixture(scope="module")
def process(built: None, pod: HostilePod, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start `sampan up` with a Pod at the loopback address."""
    with running_server(tmp_path_factory.mktemp("server") / "data", "--proxy-allow-loopback") as running:
        ports = [{"containerPort": pod.port}, {"containerPort": 53, "protocol": "UDP"}]
        container = {"name": "c", "image": "i", "ports": ports}
        made = {"metadata": {"name": "web"}, "spec": {"containers": [container], "schedulerName": "none"}}
        running.http.post(PODS, json=made).raise_for_status()
        status = {"status": {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}}
        merge = {"Content-Type": "application/merge-patch+json"}
        running.http.patch(f"{PODS}/web/status", json=status, headers=merge).raise_for_status()
        yield running


@pytest.fixture(scope="module")
def chromium(process: Running) -> Iterator[Browser]:
    """Return a browser for the server process."""
    with browser(process.address) as started:
        yield started


@pytest.fixture(scope="module")
def page(process: Running, chromium: Browser) -> Iterator[Page]:
    """Return the page of the Pod in the dashboard."""
    with logged_in(chromium, process) as opened:
        opened.goto(f"{process.address}/dashboard/object/core/v1/pods/default/web")
        yield opened


@pytest.fixture
def proxied(page: Page, pod: HostilePod) -> Iterator[Page]:
    """Return the window that the button has opened."""
    with page.context.expect_page() as opening:
        page.get_by_role("button", name=f"Open port {pod.port}").click()
    opened = opening.value
    expect(opened.locator("#relative")).to_have_text("script of the Pod")
    yield opened
    opened.close()


def result_of(page: Page, script: str) -> str:
    """Return the result of a script in the page of the Pod, or `refused: NAME`."""
    found: str = page.evaluate(f"attempt({script})")
    return found


def test_scripts_links_and_forms_of_the_page_work(proxied: Page, pod: HostilePod) -> None:
    expect(proxied.locator("#relative")).to_have_text("script of the Pod")
    expect(proxied.locator("body")).to_have_attribute("data-module", "loaded")
    assert "the Pod" in result_of(proxied, "async () => (await fetch('data')).text()")
    put = "async () => (await fetch('echo', {method: 'PUT', headers: {'X-A': '1'}, body: 'sent'})).text()"
    assert result_of(proxied, put) == "sent"
    proxied.get_by_role("link", name="Second page").click()
    expect(proxied.get_by_role("heading", name="Second page")).to_be_visible()
    proxied.get_by_role("link", name="First page").click()
    proxied.get_by_role("button", name="Send to the Pod").click()
    expect(proxied.get_by_role("heading", name="Received")).to_be_visible()
    assert [method for method, target, _ in pod.requested if target == "/form"] == ["POST"]


def test_a_websocket_of_the_page_works(proxied: Page, pod: HostilePod) -> None:
    opened = """() => new Promise((resolve) => {
        const socket = new WebSocket(location.href.replace("https:", "wss:") + "socket");
        socket.onmessage = (event) => resolve(event.data);
        socket.onerror = () => resolve("failed");
    })"""
    assert result_of(proxied, opened) == "hello"
    assert not {"cookie", "authorization"} & set(pod.headers("/socket"))


def test_only_ports_of_tcp_are_links(page: Page) -> None:
    expect(page.get_by_role("button", name="Open port")).to_have_count(1)


@pytest.mark.parametrize("script", ATTACKS.values(), ids=ATTACKS)
def test_a_script_of_the_page_reaches_nothing_of_the_dashboard(proxied: Page, script: str) -> None:
    assert result_of(proxied, script).startswith(("refused: ", "401", "403", '{"kind":"Status"'))


def test_the_session_outlives_a_hostile_form(proxied: Page, page: Page) -> None:
    send = "Object.assign(document.createElement('form'), {method: 'post', action: '/dashboard/session'})"
    proxied.evaluate(f"document.body.appendChild({send}).submit()")
    expect(proxied.locator("body")).to_contain_text("only the dashboard")
    page.reload()
    expect(page.get_by_role("heading", name="web")).to_be_visible()


def test_a_pop_up_stays_in_the_sandbox(proxied: Page) -> None:
    with proxied.expect_popup() as opening:
        proxied.evaluate("void window.open('/api/v1/namespaces/kube-system/secrets')")
    expect(opening.value.locator("body")).to_contain_text("forbidden")
    opening.value.close()
    with proxied.expect_popup() as opening:
        proxied.evaluate("void window.open('/dashboard/')")
    pop_up = opening.value
    pop_up.wait_for_load_state()
    assert pop_up.evaluate("(() => { try { return document.cookie; } catch (error) { return error.name; } })()") == (
        "SecurityError"
    )
    pop_up.close()


@pytest.mark.parametrize("target", ["/api/v1/secrets", "/dashboard/sessions"])
def test_a_redirect_carries_no_rights(proxied: Page, process: Running, target: str) -> None:
    proxied.evaluate(f"location.href = 'redirect?{process.address}/x/../..{target}'")
    proxied.wait_for_url(lambda url: "redirect" not in url)
    expect(proxied.locator("body")).not_to_contain_text('"items"')


def test_a_base_element_reaches_no_api(proxied: Page) -> None:
    proxied.evaluate("location.href = 'base'")
    expect(proxied.get_by_role("heading", name="Base")).to_be_visible()
    proxied.evaluate("document.querySelector('base').setAttribute('href', '/api/v1/')")  # that of the body is rewritten
    read = "fetch('secrets', {credentials: 'include'}).then((reply) => reply.status, (error) => error.name)"
    assert proxied.evaluate(read) in ("TypeError", 401, 403)


def test_the_pod_receives_no_cookie_no_credential_and_no_secret(proxied: Page, pod: HostilePod) -> None:
    secret = proxied.url.split("/ports/")[1].split("/")[0]
    proxied.get_by_role("link", name="Second page").click()
    expect(proxied.get_by_role("heading", name="Second page")).to_be_visible()
    for path in ("/", "/code/script.js", "/code/module.js", "/second"):
        headers = pod.headers(path)
        assert not {"cookie", "authorization", "referer"} & set(headers)
        assert secret not in str(headers)
    names = [each["name"] for each in proxied.context.cookies()]
    assert [name for name in names if not name.startswith("__Host-sampan")] == []


def test_a_script_of_the_pod_does_not_run_in_the_dashboard(proxied: Page, page: Page, chromium: Browser) -> None:
    load = """(source) => new Promise((resolve) => {
        const script = document.createElement("script");
        script.onload = () => resolve("loaded");
        script.onerror = () => resolve("refused");
        try { script.src = source; } catch (error) { resolve(error.name); }
        document.body.append(script);
    })"""
    assert page.evaluate(load, proxied.url + "code/script.js") in ("TypeError", "refused")
    assert page.evaluate("(path) => fetch(path).then((reply) => reply.status)", proxied.url + "code/script.js") == 403
    chromium.faults.clear()  # the violation of Trusted Types is what this test wants


def test_a_service_has_links_too(page: Page, process: Running) -> None:
    page.goto(f"{process.address}/dashboard/object/core/v1/services/default/kubernetes")
    expect(page.get_by_role("button", name="Open port 443")).to_be_visible()
    page.goto(f"{process.address}/dashboard/object/core/v1/pods/default/web")


def test_a_user_without_the_right_finds_the_missing_verb(process: Running, chromium: Browser, pod: HostilePod) -> None:
    account = "/api/v1/namespaces/default/serviceaccounts/default"
    made = process.http.post(f"{account}/token", json={}).raise_for_status().json()
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    subject = {"kind": "ServiceAccount", "name": "default", "namespace": "default"}
    binding = {"metadata": {"name": "view"}, "roleRef": role, "subjects": [subject]}
    bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings"
    process.http.post(bindings, json=binding).raise_for_status()
    with chromium.page("login") as page:
        page.get_by_label("Token", exact=True).fill(made["status"]["token"])
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        page.goto(f"{process.address}/dashboard/object/core/v1/pods/default/web")
        button = page.get_by_role("button", name=f"Open port {pod.port}")
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_contain_text("Needs get on pods/proxy")


def test_the_secret_ends_with_the_session(proxied: Page, page: Page, process: Running) -> None:
    address = proxied.url
    page.get_by_role("button", name="admin").click()
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    proxied.goto(address)
    expect(proxied.locator("body")).to_contain_text("this link has ended")
