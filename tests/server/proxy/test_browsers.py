"""Sessions of the dashboard and proxied servers: neither gets at the other."""

from pathlib import Path

import pytest

from sampan.server.proxy.browsers import harmless, without_sessions
from tests.server.aggregation.cell import PATH
from tests.server.aggregation.cell import cell as aggregated_cell
from tests.server.aggregation.test_proxy import THINGS
from tests.server.proxy.kubelet import PODS, cell
from tests.server.proxy.test_upgrade import SWITCHED, UPGRADE
from tests.server.proxy.upstream import ReceivedRequest, fronted, split, to, upstream

POLICY = "sandbox allow-scripts allow-forms allow-popups"
BROWSER = "Sec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\n"


def replying(head: str) -> object:
    """Return the function of an upstream whose responses have these headers."""

    async def reply(requested: ReceivedRequest) -> None:
        await requested.body()
        await requested.response(b"<html>", f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}")

    return reply


page = replying("")


@pytest.mark.parametrize("headers", ["", BROWSER], ids=["other client", "browser"])
async def test_a_proxied_page_runs_in_a_sandbox(headers: str) -> None:
    async with upstream(page) as served, fronted(to(served, prefix="/p")) as front:  # type: ignore[arg-type]
        _, received, _ = await front.get("/", headers)
        assert received["content-security-policy"] == POLICY


async def test_with_a_port_for_the_page_only_that_port_has_a_sandbox() -> None:
    async with upstream(page) as served:  # type: ignore[arg-type]
        target = to(served, prefix="/p")
        async with fronted(target, sandboxed=False) as front:
            assert "content-security-policy" not in (await front.get("/", BROWSER))[1]
        async with fronted(target, sandboxed=False, page_port=True) as front:
            assert (await front.get("/", BROWSER))[1]["content-security-policy"] == POLICY


async def test_an_upstream_cannot_weaken_the_sandbox() -> None:
    own = replying("Content-Security-Policy: sandbox allow-same-origin allow-scripts\r\n")
    async with upstream(own) as served, fronted(to(served)) as front:  # type: ignore[arg-type]
        request = f"GET / HTTP/1.1\r\nHost: h\r\n{BROWSER}Connection: close\r\n\r\n"
        assert f"Content-Security-Policy: {POLICY}".encode() in await front.raw(request.encode())


async def test_an_error_of_an_upstream_is_in_the_sandbox_too() -> None:
    async def reply(requested: ReceivedRequest) -> None:
        await requested.response(b"<script>", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n")

    async with upstream(reply) as served, fronted(to(served, prefix="/p")) as front:
        code, received, _ = await front.get()
        assert (code, received["content-security-policy"]) == (404, POLICY)


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        ("__Host-sampan=secret", None),
        ("a=b; __Host-sampan=secret; c=d", "a=b; c=d"),
        ("a=b;__Host-sampan-login=secret", "a=b"),
        ("__HOST-SAMPAN = secret; a=__Host-sampan", "a=__Host-sampan"),
        ("=__Host-sampan=secret;a=b", "a=b"),
    ],
    ids=["alone", "in the middle", "of a login", "other spelling", "without a name"],
)
async def test_cookies_of_sessions_reach_no_upstream(sent: str, received: str | None) -> None:
    async with upstream(page) as served, fronted(to(served)) as front:  # type: ignore[arg-type]
        await front.get("/", f"Cookie: {sent}\r\n")
        assert served.last.headers.get("cookie") == received


async def test_cookies_on_several_lines_reach_no_upstream_either() -> None:
    async with upstream(page) as served, fronted(to(served)) as front:  # type: ignore[arg-type]
        await front.get("/", "Cookie: a=b\r\nCookie: __Host-sampan=secret\r\n")
        assert served.last.headers["cookie"] == "a=b"


async def test_a_pod_gets_no_cookie_of_a_session(tmp_path: Path) -> None:
    async with cell(tmp_path, page) as here, upstream(page) as web:  # type: ignore[arg-type]
        await here.add_pod(ip="127.0.0.1")
        reply = await here.api.fetch("GET", f"{PODS}/p:{web.port}/proxy/", cookie="a=b; __Host-sampan=secret")
        assert web.last.headers["cookie"] == "a=b"
        assert (b"Content-Security-Policy", POLICY.encode()) in reply.response.headers


async def test_an_aggregated_server_gets_no_cookie_of_a_session(tmp_path: Path) -> None:
    async with aggregated_cell(tmp_path) as here:
        await here.available()
        reply = await here.api.get(THINGS, cookie="__Host-sampan=secret")
        (requested,) = here.requests(THINGS)
        assert THINGS.startswith(PATH)
        assert "cookie" not in requested.headers
        assert (b"Content-Security-Policy", POLICY.encode()) in reply.response.headers


@pytest.mark.parametrize("cookie", ["__Host-sampan=x; Path=/; Secure", "=__Host-sampan=x; Secure", " __host-SAMPAN=x"])
async def test_no_upstream_can_set_a_session(cookie: str) -> None:
    reply = replying(f"Set-Cookie: {cookie}\r\n")
    async with upstream(reply) as served, fronted(to(served)) as front:  # type: ignore[arg-type]
        assert "set-cookie" not in (await front.get())[1]


@pytest.mark.parametrize("name", ["Set-Cookie", "Clear-Site-Data", "NEL", "Report-To", "Strict-Transport-Security"])
@pytest.mark.parametrize("headers", [BROWSER, "Cookie: __Host-sampan=x\r\n"], ids=["browser", "session"])
async def test_a_browser_gets_no_header_for_the_whole_origin(name: str, headers: str) -> None:
    reply = replying(f"{name}: a=1\r\n")
    async with upstream(reply) as served, fronted(to(served)) as front:  # type: ignore[arg-type]
        assert name.lower() not in (await front.get("/", headers))[1]
        assert (await front.get("/"))[1][name.lower()] == "a=1"


async def test_an_upgrade_sets_no_cookie() -> None:
    async def reply(requested: ReceivedRequest) -> None:
        await requested.send(SWITCHED[:-2] + b"Set-Cookie: __Host-sampan=x\r\n\r\n")

    async with upstream(reply) as served, fronted(to(served)) as front:
        reader, writer = await front.open(UPGRADE)
        code, received, _ = split(await reader.readuntil(b"\r\n\r\n"))
        assert (code, "set-cookie" in received, "content-security-policy" in received) == (101, False, False)
        writer.close()


def test_other_cookies_and_headers_stay_as_they_are() -> None:
    assert without_sessions("a=b;c=d,  e") == "a=b;c=d,  e"
    headers = [(b"Set-Cookie", b"a=1"), (b"X-A", b"__Host-sampan=1")]
    assert harmless(headers, to_browser=False) == headers
