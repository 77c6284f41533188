"""Attacks against sessions: requests of other pages, other hosts, proxied pages, streams after a logout."""

import asyncio
import ssl
from typing import Any

import pytest

from sampan.core.clock import utc_now
from sampan.server.authentication.bearer_token import BearerTokenAuthenticator
from sampan.server.dashboard.ending import end_with
from sampan.server.dashboard.sessions import Credentials, Session
from sampan.server.pki.certificates import make_ca, make_client
from sampan.server.request import Request, Response, UserInfo
from tests.server.client import Client
from tests.server.cluster import Api
from tests.server.dashboard.browser import HOST, NAVIGATION, PAGE, PODS, SESSION, Browser, header

SOCKET = {
    "host": HOST,
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec_websocket_version": "13",
    "sec_websocket_key": "AAAAAAAAAAAAAAAAAAAAAA==",
}
FORGED: dict[str, dict[str, str]] = {
    "form of another site": {"host": HOST, "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"},
    "form of the same site": {"host": HOST, "sec_fetch_site": "same-site", "sec_fetch_mode": "navigate"},
    "form of this origin": {"host": HOST, "sec_fetch_site": "same-origin", "sec_fetch_mode": "navigate"},
    "image": {"host": HOST, "sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors", "sec_fetch_dest": "image"},
    "fetch of another site": {"host": HOST, "sec_fetch_site": "cross-site", "x_sampan_page": "1"},
    "fetch of another port": {"host": HOST, "sec_fetch_site": "same-site", "x_sampan_page": "1"},
    "fetch of a sandboxed page": {"host": HOST, "sec_fetch_site": "cross-site", "x_sampan_page": "1", "origin": "null"},
    "typed address": NAVIGATION,
    "browser without metadata": {"host": HOST, "x_sampan_page": "1"},
    "wrong header": {"host": HOST, "sec_fetch_site": "same-origin", "x_sampan_page": "0"},
}


@pytest.fixture
async def admin(browser: Browser) -> Browser:
    """Return a browser whose session has all rights."""
    return await browser.log_in("master-token")


@pytest.mark.parametrize("headers", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a_request_of_another_page_has_no_session(admin: Browser, headers: dict[str, str], method: str) -> None:
    assert (await admin.fetch("GET", PODS)).code == 200
    body = {"metadata": {"name": "p"}} if method == "POST" else b""
    assert (await admin.fetch(method, PODS, body, **headers)).code == 403  # as anonymous


@pytest.mark.parametrize("headers", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_another_page_can_neither_log_in_nor_out(admin: Browser, headers: dict[str, str], method: str) -> None:
    body = {"token": "jane-token"} if method == "POST" else b""
    before = admin.cookie
    assert (await admin.fetch(method, SESSION, body, **headers)).code == 403
    assert (admin.cookie, (await admin.get(SESSION)).code) == (before, 200)


async def test_a_login_needs_a_media_type_that_forms_cannot_send(browser: Browser) -> None:
    reply = await browser.api.fetch("POST", SESSION, b'{"token":"jane-token"}', content_type="text/plain", **PAGE)
    assert reply.code == 415


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"origin": f"https://{HOST}"}, 101),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "http://127.0.0.1:6443"}, 403),
        ({"origin": "https://127.0.0.1"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": f"https://{HOST}", "sec_fetch_site": "cross-site"}, 403),
        ({}, 403),
    ],
    ids=["own", "foreign", "other scheme", "other port", "opaque", "contradiction", "none"],
)
async def test_a_websocket_has_a_session_only_with_the_exact_origin(
    admin: Browser, more: dict[str, str], code: int
) -> None:
    reply = await admin.fetch("GET", f"{PODS}?watch=1", **SOCKET, **more)
    assert reply.code == code
    if reply.response.finished is not None:
        reply.response.finished()


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/pods/p/proxy/",
        "/api/v1/namespaces/default/services/s:80/proxy/a",
        "/api/v1/nodes/n/proxy/pods",
        "/api/v1/proxy/namespaces/default/pods/p",
        "/api/v1/namespaces/default/pods/p/proxy/debug/controllers/",
        "/api/v1/namespaces/default/pods/p/proxy/a/proxy/debug/controllers",
        "/api/v1/namespaces/default/pods/p%2Fproxy%2Fa/proxy/debug/controllers",
        "/api/v1/namespaces/default/services/s:80/proxy/debug/controllers",
        "/api/v1/nodes/n/proxy/debug/controllers",
    ],
)
async def test_a_proxied_path_has_no_session(admin: Browser, path: str) -> None:
    assert (await admin.get(path)).code == 403


async def test_the_report_of_an_operator_is_read_with_the_session(admin: Browser) -> None:
    path = "/api/v1/namespaces/default/pods/https:p:8443/proxy/debug/controllers"
    assert (await admin.get(path)).code == 404  # there is no Pod
    assert (await admin.fetch("POST", path)).code == 403
    assert (await admin.fetch("GET", path, **SOCKET)).code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:6443", "127.0.0.2", "[::2]", "a.b.example.com", "localhost.evil.example", ""]
)
@pytest.mark.parametrize("path", [PODS, SESSION, "/dashboard/", "/dashboard/static/x.js"])
async def test_another_host_name_is_misdirected(admin: Browser, host: str, path: str) -> None:
    reply = await admin.get(path, **{**PAGE, "host": host})
    assert (reply.code, reply.body["kind"]) == (421, "Status")


@pytest.mark.parametrize("host", ["127.0.0.1:6443", "LOCALHOST", "a.example.com:1", "[::1]:6443", "localhost."])
async def test_names_of_the_certificate_are_served(browser: Browser, host: str) -> None:
    assert (await browser.get("/dashboard/", host=host)).code == 200


async def test_other_clients_use_any_host_name(api: Api) -> None:
    assert (await api.get(PODS, host="evil.example")).code == 200


async def test_a_token_in_a_header_counts_for_requests_of_other_clients(api: Api, admin: Browser) -> None:
    reply = await api.get(PODS, cookie=admin.cookie, host=HOST)
    assert reply.code == 200


async def test_a_session_has_the_rights_of_its_login_alone(browser: Browser) -> None:
    await browser.log_in("jane-token")
    reply = await browser.api.fetch("GET", PODS, cookie=browser.cookie, authorization="Bearer master-token", **PAGE)
    assert reply.code == 403


async def test_two_cookies_of_the_same_name_are_no_session(admin: Browser) -> None:
    both = f"{admin.cookie}; {admin.cookie.partition('=')[0]}=other"
    assert (await admin.api.fetch("GET", PODS, cookie=both, **PAGE)).code == 403


async def test_the_cookie_of_another_port_is_no_session(admin: Browser) -> None:
    assert (await admin.get(PODS, **{**PAGE, "host": "127.0.0.1:7443"})).code == 403


async def test_responses_to_sessions_are_not_stored(admin: Browser) -> None:
    for reply in (await admin.get(PODS), await admin.get(f"{PODS}/none")):
        assert "no-store" in header(reply, "cache-control")
        assert header(reply, "x-content-type-options") == "nosniff"


async def test_impersonation_needs_its_verb_in_each_request(browser: Browser, admin: Browser) -> None:
    assert (await admin.get(PODS, **PAGE, impersonate_user="jane")).code == 403  # jane may not list Pods
    await admin.log_in("jane-token")
    assert (await admin.get(PODS, **PAGE, impersonate_user="admin")).code == 403


async def test_an_administrator_lists_and_ends_sessions(api: Api, admin: Browser) -> None:
    jane = await Browser(api).log_in()
    items = (await api.get("/dashboard/sessions")).body["items"]
    assert [each["user"] for each in items] == ["admin", "jane"]
    assert admin.value not in str(items)
    assert jane.value not in str(items)
    assert (await api.delete(f"/dashboard/sessions/{items[1]['id']}")).code == 204
    assert (await jane.get("/api")).code == 401
    assert (await admin.get("/api")).code == 200
    assert (await api.delete("/dashboard/sessions/none")).code == 404


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_other_users_see_and_end_no_sessions(browser: Browser, method: str) -> None:
    await browser.log_in()
    assert (await browser.fetch(method, "/dashboard/sessions")).code == 403
    assert (await browser.fetch(method, "/dashboard/sessions/x")).code == 403


async def test_a_watch_ends_with_its_session(api: Api, admin: Browser) -> None:
    reply = await admin.get(f"{PODS}?watch=1")
    stream = reply.response.stream
    assert stream is not None
    assert api.server.dashboard is not None

    async def read() -> None:
        async for _ in stream:
            pass

    async with asyncio.TaskGroup() as group:
        reading = group.create_task(read())
        await asyncio.sleep(0)
        assert (await admin.fetch("DELETE", SESSION)).code == 204
        done, _ = await asyncio.wait([reading], timeout=60)
    assert done
    assert reading.cancelled()


async def test_a_stream_that_begins_after_the_logout_ends_at_once() -> None:
    session = Session(Credentials(), UserInfo("jane"))
    opened: list[Any] = []

    async def takeover(tunnel: object) -> None:
        opened.append(tunnel)
        await asyncio.get_running_loop().create_future()

    response = Response(101, takeover=takeover)
    end_with(session, response)
    session.end()
    assert response.takeover is not None
    task = asyncio.ensure_future(response.takeover(None))  # type: ignore[arg-type]
    done, _ = await asyncio.wait([task], timeout=60)
    assert done
    assert task.cancelled()


@pytest.mark.parametrize(
    ("method", "more", "code"),
    [
        ("POST", {"sec_fetch_site": "cross-site"}, 403),
        ("DELETE", {"sec_fetch_site": "same-site"}, 403),
        ("GET", {"sec_fetch_site": "cross-site", **SOCKET}, 403),
        ("POST", {"sec_fetch_site": "same-origin"}, 201),
        ("POST", {}, 201),
    ],
    ids=["POST", "same site", "WebSocket", "own page", "other client"],
)
async def test_another_site_cannot_use_a_client_certificate(
    api: Api, method: str, more: dict[str, str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def authenticate(self: object, request: Request) -> UserInfo | None:
        return UserInfo("admin", groups=("system:masters",)) if request.wire.client_certificate else None

    now = utc_now()
    pem = make_client(make_ca("ca", now), "admin", ("system:masters",), now).certificate_pem()
    monkeypatch.setattr(BearerTokenAuthenticator, "authenticate", authenticate)
    target = PODS.replace("pods", "configmaps")
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    body = {"metadata": {"name": "a"}} if method == "POST" else b""
    reply = await Client(api.server.handler).request(
        method, target, body, headers, certificate=ssl.PEM_cert_to_DER_cert(pem.decode())
    )
    assert reply.status == code
