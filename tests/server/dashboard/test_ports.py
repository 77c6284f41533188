"""Links to ports of Pods and Services: rights, bounds, headers in both directions, requests of other pages."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sampan.core.clock import unix_time
from sampan.server.dashboard.ports.links import LINKS_OF_SESSION_MAX, VALID_S, LinkedPort, PortLinks
from sampan.server.dashboard.sessions import Credentials, Session
from sampan.server.dashboard.settings import DashboardSettings
from sampan.server.request import UserInfo
from sampan.server.secret_paths import PORT_LINKS, loggable
from tests.server.audit.recorder import Recorder, audit_to
from tests.server.cluster import ApiResponse
from tests.server.dashboard.browser import HOST, NAVIGATION, PAGE, SESSION, Browser, header
from tests.server.dashboard.test_attacks import SOCKET
from tests.server.proxy.kubelet import Cell, cell
from tests.server.proxy.test_browsers import POLICY
from tests.server.proxy.test_upgrade import SWITCHED
from tests.server.proxy.upstream import ReceivedRequest, Upstream, upstream

PORTS = "/dashboard/ports"
OPENED = {"host": HOST, "sec_fetch_site": "same-origin", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
"""Headers of the navigation that the dashboard begins."""
SANDBOXED = {"host": HOST, "sec_fetch_site": "cross-site", "sec_fetch_mode": "cors", "origin": "null"}
"""Headers of a request of a script of the proxied page."""
HOSTILE = (
    "Content-Type: text/html\r\nSet-Cookie: a=1\r\nReferrer-Policy: unsafe-url\r\nCache-Control: public, max-age=9\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\nClear-Site-Data: *\r\nService-Worker-Allowed: /\r\n"
    "Access-Control-Allow-Origin: https://evil.example\r\n"
)


async def hostile(requested: ReceivedRequest) -> None:
    """Respond with headers that would harm the origin of the server."""
    await requested.body()
    await requested.response(b'<a href="/a">a</a><a href="b">b</a>', f"HTTP/1.1 200 OK\r\n{HOSTILE}")


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def here(tmp_path: Path, recorder: Recorder) -> AsyncIterator[Cell]:
    async with cell(tmp_path, hostile, dashboard=DashboardSettings(), audit=audit_to(recorder)) as made:
        await made.add_pod(ip="127.0.0.1")
        yield made


@pytest.fixture
async def web() -> AsyncIterator[Upstream]:
    """Start the server that listens in the Pod."""
    async with upstream(hostile) as served:
        yield served


@pytest.fixture
async def admin(here: Cell) -> Browser:
    return await Browser(here.api).log_in("master-token")


def port_of(web: Upstream, **more: Any) -> dict[str, Any]:
    return {"namespace": "default", "resource": "pods", "name": "p", "port": web.port, "scheme": "http", **more}


async def opened(browser: Browser, web: Upstream) -> str:
    """Return the path of a new link, without the slash at its end."""
    reply = await browser.fetch("POST", PORTS, port_of(web))
    assert reply.code == 201, reply.body
    path: str = reply.body["path"]
    return path.removesuffix("/")


async def fetch(browser: Browser, target: str, method: str = "GET", **headers: str) -> ApiResponse:
    """Send a request of the proxied page, and read the response."""
    reply = await browser.api.fetch(method, target, **(headers or SANDBOXED))
    if reply.response.stream is not None:
        reply.body = b"".join([piece async for piece in reply.response.stream])
    return reply


async def test_a_link_opens_the_port(admin: Browser, web: Upstream) -> None:
    path = await opened(admin, web)
    reply = await fetch(admin, f"{path}/a%2Fb/?q=1", **OPENED)
    assert (reply.code, web.last.target) == (200, "/a%2Fb/?q=1")
    assert reply.body.decode() == f'<a href="{path}/a">a</a><a href="b">b</a>'


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
async def test_a_sandboxed_page_sends_any_method(admin: Browser, web: Upstream, method: str) -> None:
    assert (await fetch(admin, f"{await opened(admin, web)}/x", method)).code == 200
    assert web.last.method == method


async def test_a_response_has_the_headers_of_the_server_instead_of_those_of_the_port(
    admin: Browser, web: Upstream
) -> None:
    reply = await fetch(admin, f"{await opened(admin, web)}/")
    assert header(reply, "content-security-policy") == POLICY
    assert header(reply, "referrer-policy") == "no-referrer"
    assert header(reply, "cross-origin-resource-policy") == "cross-origin"
    assert header(reply, "access-control-allow-origin") == "null"
    assert "public" not in header(reply, "cache-control")
    assert "no-store" in header(reply, "cache-control")
    assert [header(reply, each) for each in ("set-cookie", "clear-site-data", "service-worker-allowed")] == [""] * 3


async def test_the_port_gets_no_credential_and_no_secret(admin: Browser, web: Upstream) -> None:
    path = await opened(admin, web)
    more = {"authorization": "Bearer master-token", "cookie": f"{admin.cookie}; a=b", "impersonate_user": "jane"}
    assert (await fetch(admin, f"{path}/x", **SANDBOXED, **more, x_remote_user="jane")).code == 200
    assert not {"authorization", "cookie", "impersonate-user", "x-remote-user"} & set(web.last.headers)
    assert path.rpartition("/")[2] not in str(web.last.headers)
    assert web.last.headers["x-forwarded-uri"] == "/x"


async def test_errors_have_the_sandbox_too(admin: Browser, here: Cell, web: Upstream) -> None:
    path = await opened(admin, web)
    for target in (f"{PORTS}/wrong/", f"{PORT_LINKS}{'a' * 43}/"):
        reply = await fetch(admin, target, **OPENED)
        assert (reply.code, header(reply, "content-security-policy")) == (404, POLICY)
    await here.api.delete("/api/v1/namespaces/default/pods/p?gracePeriodSeconds=0")
    reply = await fetch(admin, f"{path}/")
    assert (reply.code, header(reply, "content-security-policy")) == (404, POLICY)


REFUSED: dict[str, dict[str, str]] = {
    "script of the dashboard": {**OPENED, "sec_fetch_mode": "no-cors", "sec_fetch_dest": "script"},
    "module of the dashboard": {**OPENED, "sec_fetch_mode": "cors", "sec_fetch_dest": "script"},
    "worker": {**OPENED, "sec_fetch_mode": "same-origin", "sec_fetch_dest": "worker"},
    "service worker": {**OPENED, "sec_fetch_mode": "same-origin", "sec_fetch_dest": "serviceworker"},
    "frame in the dashboard": {**OPENED, "sec_fetch_dest": "iframe"},
    "fetch of the dashboard": PAGE,
    "fetch of another site": {**SANDBOXED, "origin": "https://evil.example"},
    "another port of the host": {**SANDBOXED, "sec_fetch_site": "same-site"},
    "another program": {"host": HOST},
    "program without metadata": {"host": HOST, "origin": "null"},
    "socket of the dashboard": {**SOCKET, "origin": f"https://{HOST}"},
    "socket of another site": {**SOCKET, "origin": "https://evil.example"},
    "socket of another program": SOCKET,
}


@pytest.mark.parametrize("headers", REFUSED.values(), ids=REFUSED)
async def test_requests_that_no_sandboxed_page_sends_are_refused(
    admin: Browser, web: Upstream, headers: dict[str, str]
) -> None:
    assert (await fetch(admin, f"{await opened(admin, web)}/x.js", **headers)).code == 403
    assert web.requested == []


async def test_a_form_in_the_dashboard_cannot_send_to_a_port(admin: Browser, web: Upstream) -> None:
    assert (await fetch(admin, f"{await opened(admin, web)}/x", "POST", **OPENED)).code == 403


async def test_a_link_is_for_the_hosts_of_the_server(admin: Browser, web: Upstream) -> None:
    path = await opened(admin, web)
    assert (await fetch(admin, f"{path}/", **{**OPENED, "host": "evil.example"})).code == 421


async def test_a_preflight_permits_what_it_requests(admin: Browser, web: Upstream) -> None:
    path = await opened(admin, web)
    more = {"access_control_request_method": "PUT", "access_control_request_headers": "x-a,content-type"}
    reply = await fetch(admin, f"{path}/x", "OPTIONS", **SANDBOXED, **more)
    assert (reply.code, web.requested) == (204, [])
    assert header(reply, "access-control-allow-methods") == "PUT"
    assert header(reply, "access-control-allow-headers") == "x-a,content-type"


async def test_a_link_without_its_slash_leads_to_it(admin: Browser, web: Upstream) -> None:
    path = await opened(admin, web)
    reply = await fetch(admin, path, **OPENED)
    assert (reply.code, header(reply, "location")) == (307, f"{path}/")


async def test_a_websocket_is_passed_on_and_ends_with_the_link(admin: Browser, here: Cell) -> None:
    async def switch(requested: ReceivedRequest) -> None:
        await requested.send(SWITCHED)

    async with upstream(switch) as web:
        path = await opened(admin, web)
        reply = await admin.api.fetch("GET", f"{path}/", **{**SOCKET, "origin": "null"})
        assert (reply.code, reply.response.takeover is not None) == (101, True)
        if reply.response.finished is not None:
            reply.response.finished()


@pytest.mark.parametrize(
    "more",
    [
        {"namespace": "a/b"},
        {"name": "p:80"},
        {"name": "../x"},
        {"name": ""},
        {"port": 0},
        {"port": 65536},
        {"port": "http"},
        {"port": True},
        {"scheme": "ftp"},
        {"resource": "nodes"},
        {"path": "/x"},
    ],
    ids=str,
)
async def test_a_wrong_body_is_refused(admin: Browser, web: Upstream, more: dict[str, Any]) -> None:
    assert (await admin.fetch("POST", PORTS, port_of(web, **more))).code == 400


async def test_a_user_without_the_right_gets_no_link(here: Cell, web: Upstream, recorder: Recorder) -> None:
    jane = await Browser(here.api).log_in()
    reply = await jane.fetch("POST", PORTS, port_of(web))
    assert (reply.code, 'User "jane" cannot get resource "pods/proxy"' in reply.message) == (403, True)
    events = [event for event in recorder.events if event["requestURI"] == PORTS]
    assert [(event["user"]["username"], event["responseStatus"]["code"]) for event in events] == [("jane", 403)]


@pytest.mark.parametrize("headers", [NAVIGATION, SANDBOXED, {**PAGE, "sec_fetch_site": "cross-site"}])
async def test_other_pages_get_no_link(admin: Browser, web: Upstream, headers: dict[str, str]) -> None:
    assert (await admin.fetch("POST", PORTS, port_of(web), **headers)).code == 403


async def test_a_link_for_another_user_is_refused(admin: Browser, web: Upstream) -> None:
    assert (await admin.fetch("POST", PORTS, port_of(web), **PAGE, impersonate_user="jane")).code == 400


async def test_a_service_is_reached_by_its_subresource(admin: Browser, web: Upstream) -> None:
    reply = await admin.fetch("POST", PORTS, port_of(web, resource="services", name="s", port=80))
    assert reply.code == 201
    reply = await fetch(admin, f"{reply.body['path']}x")
    assert (reply.code, reply.message) == (404, 'services "s" not found')


async def test_each_request_is_authorized_again(here: Cell, web: Upstream) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods/proxy"], "verbs": ["get"]}]
    roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    await here.api.create(f"{roles}/roles", {"metadata": {"name": "r"}, "rules": rules})
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"}
    binding = {"metadata": {"name": "b"}, "roleRef": reference, "subjects": [subject]}
    await here.api.create(f"{roles}/rolebindings", binding)
    jane = await Browser(here.api).log_in()
    path = await opened(jane, web)
    assert (await fetch(jane, f"{path}/")).code == 200
    assert (await fetch(jane, f"{path}/", "POST")).code == 403  # needs `create`
    await here.api.delete(f"{roles}/rolebindings/b")
    assert (await fetch(jane, f"{path}/")).code == 403


async def test_the_audit_log_names_the_user_and_contains_no_secret(
    admin: Browser, web: Upstream, recorder: Recorder
) -> None:
    path = await opened(admin, web)
    await fetch(admin, f"{path}/x?q=1")
    target = f"/api/v1/namespaces/default/pods/http:p:{web.port}/proxy"
    created = [event for event in recorder.events if event["requestURI"] == PORTS]
    assert [(event["user"]["username"], event["annotations"]["dashboard.sampan.dev/port"]) for event in created] == [
        ("admin", target)
    ]
    used = [event for event in recorder.events if event["requestURI"] == f"{target}/x?q=1"]
    assert {(event["user"]["username"], event["objectRef"]["subresource"]) for event in used} == {("admin", "proxy")}
    assert path.rpartition("/")[2] not in str(recorder.events)


async def test_a_link_ends_with_its_session(admin: Browser, web: Upstream) -> None:
    path = await opened(admin, web)
    await admin.fetch("DELETE", SESSION)
    assert (await fetch(admin, f"{path}/")).code == 404


# --- the links of a session


def made(links: PortLinks, session: Session, address: str = "10.0.0.1") -> str:
    """Return the secret of a new link."""
    return links.create(session, LinkedPort("default", "pods", "p", 80), address)[0].split("/")[3]


@pytest.fixture
def session() -> Session:
    return Session(Credentials(), UserInfo("jane"))


def test_the_secret_is_useless_at_another_address(session: Session) -> None:
    links = PortLinks()
    secret = made(links, session)
    assert links.find(secret, "10.0.0.1") is not None
    assert links.find(secret, "10.0.0.2") is None


def test_a_new_link_ends_the_oldest_one_of_its_session(session: Session) -> None:
    links, other = PortLinks(), Session(Credentials(), UserInfo("jane"))
    foreign, secrets = made(links, other), [made(links, session) for _ in range(LINKS_OF_SESSION_MAX + 1)]
    assert [links.find(each, "10.0.0.1") is None for each in secrets] == [True] + [False] * LINKS_OF_SESSION_MAX
    assert links.find(foreign, "10.0.0.1") is not None
    assert len(session.holds) == LINKS_OF_SESSION_MAX


def test_a_link_ends_after_its_time_and_takes_along_what_holds_it(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    links, ended = PortLinks(), list[str]()
    secret = made(links, session)
    link = links.find(secret, "10.0.0.1")
    assert link is not None
    link.hold(lambda: ended.append("stream"))
    later = unix_time() + VALID_S
    monkeypatch.setattr("sampan.server.dashboard.ports.links.unix_time", lambda: later)
    assert links.find(secret, "10.0.0.1") is None
    links.sweep()
    assert (len(links), ended, session.holds) == (0, ["stream"], set())


def test_no_link_of_an_ended_session_is_kept(session: Session) -> None:
    session.end()
    links = PortLinks()
    assert links.find(made(links, session), "10.0.0.1") is None
    assert len(links) == 0


def test_logs_contain_no_secret() -> None:
    assert loggable(f"{PORT_LINKS}secret/x?q=1") == f"{PORT_LINKS}…"
    assert loggable("/api/v1/pods?watch=1") == "/api/v1/pods?watch=1"
