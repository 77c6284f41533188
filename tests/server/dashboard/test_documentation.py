"""The documentation site at /dashboard/docs/."""

import os
from pathlib import Path

import pytest

from sampan.server.dashboard.documentation import Documentation, installed_site
from sampan.server.request import Response
from tests.server.dashboard.browser import NAVIGATION, Browser, header
from tests.server.requests import make_request


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Write a site, with a file next to its folder."""
    folder = tmp_path / "site"
    (folder / "book").mkdir(parents=True)
    (folder / "index.html").write_text("front page")
    (folder / "book" / "index.html").write_text("the book")
    (folder / "running.md").write_text("# Running")
    (tmp_path / "secret.txt").write_text("not a file of the site")
    return folder


async def load(documentation: Documentation, path: str, **headers: str) -> Response:
    return await documentation.handle(make_request("GET", f"/dashboard/docs/{path}", headers=headers))


@pytest.mark.parametrize(
    ("path", "body", "content_type"),
    [
        ("", b"front page", "text/html; charset=utf-8"),
        ("book/", b"the book", "text/html; charset=utf-8"),
        ("running.md", b"# Running", "text/plain; charset=utf-8"),
    ],
)
async def test_a_file_of_the_site_is_served(site: Path, path: str, body: bytes, content_type: str) -> None:
    response = await load(Documentation(site), path)
    assert (response.status, response.body, response.content_type) == (200, body, content_type)


@pytest.mark.parametrize("path", ["../secret.txt", "..%2fsecret.txt", "/etc/passwd", "book/../../secret.txt", "book"])
async def test_other_paths_are_not_found(site: Path, path: str) -> None:
    assert (await load(Documentation(site), path)).status == 404


async def test_scripts_of_the_site_can_send_no_request(site: Path) -> None:
    headers = dict((await load(Documentation(site), "")).headers)
    policy = headers[b"Content-Security-Policy"].decode()
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert "unsafe" not in policy


async def test_an_unchanged_file_is_not_sent_again(site: Path) -> None:
    documentation = Documentation(site)
    tag = dict((await load(documentation, "")).headers)[b"ETag"].decode()
    assert (await load(documentation, "", **{"if-none-match": tag})).status == 304


async def test_a_new_build_is_served(site: Path) -> None:
    documentation = Documentation(site)
    await load(documentation, "")
    (site / "new.html").write_text("new page")
    os.utime(site / "index.html", ns=(1, 1))
    assert (await load(documentation, "new.html")).body == b"new page"


async def test_without_a_site_the_page_names_the_package(tmp_path: Path) -> None:
    response = await load(Documentation(tmp_path / "absent"), "running.html")
    assert response.status == 200
    assert b"pip install sampan-docs" in response.body


async def test_the_site_of_the_installed_package_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sampan_docs").mkdir()
    (tmp_path / "sampan_docs" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_site() == tmp_path / "sampan_docs" / "site"


async def test_the_path_without_a_slash_leads_to_the_documentation(browser: Browser) -> None:
    reply = await browser.get("/dashboard/docs", **NAVIGATION)
    assert (reply.code, header(reply, "location")) == (308, "/dashboard/docs/")


async def test_documentation_needs_no_login(browser: Browser) -> None:
    assert (await browser.get("/dashboard/docs/", **NAVIGATION)).code == 200
    assert (await browser.fetch("POST", "/dashboard/docs/")).code == 405
