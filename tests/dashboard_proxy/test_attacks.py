"""Attacks on `sampan dashboard`: other pages, other hosts, other users of the machine, and a hostile cluster."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.dashboard_proxy.browsing import PAGE, PODS, SESSION, TOKEN, Browsing, browsing
from tests.server.proxy.upstream import ReceivedRequest


async def respond(request: ReceivedRequest) -> None:
    """Respond as a cluster that tries what it can."""
    await request.body()
    head = (
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: sampan=forged; Path=/\r\nClear-Site-Data: *\r\n"
        "Keep-Alive: timeout=5\r\nX-Own: 1\r\nAccess-Control-Allow-Origin: *\r\nETag: tag\r\n"
    )
    await request.response(b"<script>steal()</script>", head)


@pytest.fixture
async def page() -> AsyncIterator[Browsing]:
    """Return a browser without a session."""
    async with browsing(respond) as made:
        yield made


@pytest.mark.parametrize("target", [PODS, "/api", "/version", "/metrics", "/dashboard/sessions", "/dashboard/stream"])
async def test_nothing_of_the_cluster_is_served_without_a_session(page: Browsing, target: str) -> None:
    assert (await page.get(target)).status_code in (401, 403)
    assert page.cluster.requested == []


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Sampan-Page": "1"},
        {"X-Sampan-Page": "1", "Sec-Fetch-Site": "cross-site"},
        {"X-Sampan-Page": "1", "Sec-Fetch-Site": "same-site"},
        {"X-Sampan-Page": "1", "Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin"},
    ],
    ids=["no header", "no metadata", "cross-site", "another port", "navigation", "no header of the page"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a_cookie_alone_is_no_session(page: Browsing, headers: dict[str, str], method: str) -> None:
    await page.log_in()
    assert (await page.http.request(method, PODS, headers=headers)).status_code == 401
    assert page.cluster.requested == []


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{}", "127.0.0.1.evil.example:{}", ""])
@pytest.mark.parametrize("target", [PODS, SESSION, "/dashboard/"])
async def test_another_host_name_is_misdirected(page: Browsing, host: str, target: str) -> None:
    await page.log_in()
    assert (await page.get(target, host=host.format(page.port))).status_code == 421
    assert page.cluster.requested == []


@pytest.mark.parametrize("host", ["localhost:{}", "[::1]:{}", "127.0.0.1:{}"])
async def test_names_of_this_machine_are_served(page: Browsing, host: str) -> None:
    assert (await page.get("/dashboard/", host=host.format(page.port))).status_code == 200


async def test_the_page_offers_nothing_that_needs_a_server_of_sampan(page: Browsing) -> None:
    described = (await (await page.log_in()).get(SESSION)).json()["server"]
    assert described["features"] == ["stream", "namespaces"]
    assert described["context"] == "shop"


async def test_a_link_logs_in_once(page: Browsing) -> None:
    await page.log_in()
    assert (await page.send("POST", SESSION, {"link": page.codes[0]})).status_code == 401


async def test_another_site_cannot_use_a_link(page: Browsing) -> None:
    page.proxy.announce_link()
    reply = await page.http.post(
        SESSION, json={"link": page.codes[0]}, headers={**PAGE, "Sec-Fetch-Site": "cross-site"}
    )
    assert reply.status_code == 403


@pytest.mark.parametrize("body", [{"token": TOKEN}, {"certificate": True}, {"link": ""}])
async def test_only_a_link_logs_in(page: Browsing, body: dict[str, object]) -> None:
    assert (await page.send("POST", SESSION, body)).status_code == 401


async def test_a_visit_without_a_session_announces_one_link(page: Browsing) -> None:
    for _ in range(3):
        reply = await page.get(SESSION)
        assert reply.status_code == 401
    assert len(page.codes) == 1
    assert page.codes[0] not in (await page.get(SESSION)).text


async def test_the_cluster_gets_the_credentials_of_the_kubeconfig_alone(page: Browsing) -> None:
    await page.log_in()
    await page.get(f"{PODS}?limit=5", X_Forwarded_For="1.2.3.4", Origin="http://x", Keep_Alive="1", TE="trailers")
    sent = page.cluster.last
    assert sent.target == f"/base{PODS}?limit=5"
    assert sent.headers["authorization"] == f"Bearer {TOKEN}"
    assert sent.headers["impersonate-user"] == "jane"
    assert "httpx" not in sent.headers["user-agent"]
    known = {"host", "authorization", "impersonate-user", "user-agent", "accept", "accept-encoding"}
    assert set(sent.headers) <= known


@pytest.mark.parametrize(
    "header",
    [
        {"Authorization": "Bearer other"},
        {"Impersonate-User": "admin"},
        {"Impersonate-Group": "system:masters"},
        {"Impersonate-Extra-Scopes": "all"},
        {"X-Remote-User": "admin"},
        {"Sec-WebSocket-Protocol": "base64url.bearer.authorization.k8s.io.b3RoZXI, v5.channel.k8s.io"},
    ],
    ids=lambda header: next(iter(header)),
)
async def test_a_page_cannot_act_as_another_user(page: Browsing, header: dict[str, str]) -> None:
    await page.log_in()
    assert (await page.get(PODS, **header)).status_code == 403
    assert page.cluster.requested == []


async def test_a_response_of_the_cluster_is_data(page: Browsing) -> None:
    reply = await (await page.log_in()).get()
    assert reply.text == "<script>steal()</script>"
    assert "sandbox" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["etag"] == "tag"
    dropped = {"set-cookie", "clear-site-data", "keep-alive", "x-own", "access-control-allow-origin"}
    assert dropped.isdisjoint(reply.headers)
    assert TOKEN not in str(reply.headers)


@pytest.mark.parametrize(
    "path",
    [
        f"{PODS}/web/proxy/",
        f"{PODS}/web%2Fproxy/",
        "/api/v1/proxy/namespaces/default/pods/web/",
        "/api/v1/namespaces/default/services/web:80/proxy/index.html",
        "/api/v1/nodes/one/proxy/logs",
    ],
)
async def test_nothing_is_passed_to_pods_services_and_nodes(page: Browsing, path: str) -> None:
    await page.log_in()
    assert (await page.get(path)).status_code == 403
    assert page.cluster.requested == []


@pytest.mark.parametrize("path", ["/api/../../secret", "/api/%2e%2e/%2e%2e/secret", "/api/%2e/v1"])
async def test_a_path_stays_below_that_of_the_kubeconfig(page: Browsing, path: str) -> None:
    await page.log_in()
    head = f"GET {path} HTTP/1.1\r\nX-Sampan-Page: 1\r\nSec-Fetch-Site: same-origin\r\nConnection: close"
    reader, writer = await page.opened(head)
    assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    writer.close()
    assert page.cluster.requested == []


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PROPFIND"])
async def test_other_methods_are_refused(page: Browsing, method: str) -> None:
    await page.log_in()
    assert (await page.send(method, PODS)).status_code == 405


@pytest.mark.parametrize("origin", ["http://evil.example", "https://127.0.0.1:{}", "http://127.0.0.1:1", "null", ""])
async def test_a_websocket_of_another_origin_has_no_session(page: Browsing, origin: str) -> None:
    await page.log_in()
    named = f"Origin: {origin.format(page.port)}\r\n" if origin else ""
    handshake = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAA"
    for target in (f"{PODS}/web/exec?command=id", "/dashboard/stream"):
        reader, writer = await page.opened(f"GET {target} HTTP/1.1\r\n{named}{handshake}")
        line = await asyncio.wait_for(reader.readline(), 30)
        assert line.split()[1] in (b"401", b"403")
        writer.close()
    assert page.cluster.requested == []


async def test_another_protocol_is_refused(page: Browsing) -> None:
    await page.log_in()
    assert (await page.get(f"{PODS}/web/exec", connection="Upgrade", upgrade="SPDY/3.1")).status_code == 400
    assert page.cluster.requested == []


async def test_a_logout_ends_the_session(page: Browsing) -> None:
    await page.log_in()
    cookie = page.cookie
    assert (await page.send("DELETE", SESSION)).status_code == 204
    assert (await page.get(PODS, cookie=cookie)).status_code == 401


async def test_the_cookie_is_hidden_from_scripts_and_other_sites(page: Browsing) -> None:
    page.proxy.announce_link()
    reply = await page.send("POST", SESSION, {"link": page.codes[0]})
    attributes = reply.headers["set-cookie"]
    assert attributes.startswith(f"sampan-{page.port}=")
    assert "; HttpOnly; SameSite=Strict" in attributes
    assert "Domain" not in attributes
