"""The page: its headers, its files, and what a server without a build shows."""

import json
import os
import re
from pathlib import Path

import pytest

from sampan.server.dashboard.files import PageFiles
from sampan.server.request import Response
from tests.server.cluster import served
from tests.server.dashboard.browser import HOST, NAVIGATION, Browser, header
from tests.server.requests import make_request

STATIC = "/dashboard/static/"


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """Write the result of a build."""
    (tmp_path / "index.html").write_text('<html><style nonce="{{nonce}}"></style><script src="static/a.js"></script>')
    files = {"app-1.js": {"type": "text/javascript", "etag": "1"}, "logo.svg": {"type": "image/svg+xml", "etag": "2"}}
    (tmp_path / "meta.json").write_text(json.dumps({"files": files}))
    (tmp_path / "secret.txt").write_text("not a file of the page")
    for name, content in {"app-1.js": "js", "app-1.js.br": "brotli", "app-1.js.gz": "gzip", "logo.svg": "svg"}.items():
        (tmp_path / name).write_text(content)
    return tmp_path


def fields(response: Response) -> dict[str, str]:
    return {name.decode().lower(): value.decode() for name, value in response.headers}


@pytest.mark.parametrize("path", ["/dashboard/", "/dashboard/login", "/dashboard/pods/a%2Fb", "/dashboard/x/../y"])
async def test_every_path_of_the_page_is_the_page(browser: Browser, path: str) -> None:
    reply = await browser.get(path, **NAVIGATION)
    assert (reply.code, reply.response.content_type) == (200, "text/html; charset=utf-8")
    policy = header(reply, "content-security-policy")
    for part in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "trusted-types sampan-worker"):
        assert part in policy
    assert "unsafe" not in policy
    assert header(reply, "cache-control") == "no-store"
    assert header(reply, "referrer-policy") == "no-referrer"
    assert header(reply, "cross-origin-opener-policy") == "same-origin"
    assert header(reply, "cross-origin-embedder-policy") == "require-corp"
    assert header(reply, "x-frame-options") == "DENY"
    assert "camera=()" in header(reply, "permissions-policy")


async def test_the_path_without_a_slash_leads_to_the_page(browser: Browser) -> None:
    reply = await browser.get("/dashboard", **NAVIGATION)
    assert (reply.code, header(reply, "location")) == (308, "/dashboard/")


async def test_other_methods_are_refused(browser: Browser) -> None:
    assert (await browser.fetch("POST", "/dashboard/")).code == 405


async def test_without_the_setting_there_is_no_page() -> None:
    async with served() as api:
        assert (await api.get("/dashboard/")).code == 404
        assert (await Browser(api).get("/dashboard/", host=HOST)).code == 403


def test_without_a_build_the_page_names_the_command(tmp_path: Path) -> None:
    response = PageFiles(tmp_path).shell(make_request())
    assert response.status == 200
    assert b"<code>make web</code>" in response.body


def test_each_response_has_a_new_nonce(build: Path) -> None:
    page, nonces = PageFiles(build), set()
    for _ in range(3):
        response = page.shell(make_request())
        found = re.search(r"'nonce-([\w-]{22})'", fields(response)["content-security-policy"])
        assert found is not None
        assert f'nonce="{found[1]}"'.encode() in response.body
        nonces.add(found[1])
    assert len(nonces) == 3


@pytest.mark.parametrize(
    ("accepted", "body", "encoding"),
    [
        ("gzip, deflate, br", b"brotli", "br"),
        ("gzip", b"gzip", "gzip"),
        ("br;q=0, gzip", b"gzip", "gzip"),
        ("", b"js", None),
    ],
)
def test_a_file_has_the_best_encoding_that_the_client_accepts(
    build: Path, accepted: str, body: bytes, encoding: str | None
) -> None:
    response = PageFiles(build).file(make_request(headers={"accept-encoding": accepted}), "app-1.js")
    assert (response.body, fields(response).get("content-encoding")) == (body, encoding)
    assert fields(response)["cache-control"] == "public, max-age=31536000, immutable"
    assert fields(response)["vary"] == "Accept-Encoding"
    assert response.content_type == "text/javascript"


def test_a_file_that_the_client_has_is_not_sent_again(build: Path) -> None:
    page = PageFiles(build)
    tag = fields(page.file(make_request(), "app-1.js"))["etag"]
    response = page.file(make_request(headers={"if-none-match": tag}), "app-1.js")
    assert (response.status, response.body) == (304, b"")


@pytest.mark.parametrize("name", ["secret.txt", "meta.json", "../static/app-1.js", "app-1.js.br", "", "/etc/passwd"])
def test_only_files_of_the_build_are_served(build: Path, name: str) -> None:
    assert PageFiles(build).file(make_request(), name).status == 404


def test_a_new_build_is_served_without_a_restart(build: Path) -> None:
    page = PageFiles(build)
    page.shell(make_request())
    (build / "index.html").write_text("new")
    (build / "meta.json").write_text('{"files": {}}  ')
    os.utime(build / "meta.json", (1, 1))
    assert page.shell(make_request()).body == b"new"


def test_an_unreadable_build_changes_nothing(build: Path) -> None:
    page = PageFiles(build)
    before = page.file(make_request(), "app-1.js").body
    (build / "meta.json").write_text("{")
    page.shell(make_request())
    assert page.file(make_request(), "app-1.js").body == before
