"""A page on another port than the API: sessions exist there alone."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import browser
from tests.dashboard.process import Running, running_server
from tests.ports import free_port

PAGE = {"X-Sampan-Page": "1", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture(scope="module")
def port() -> int:
    """Return the port of the page."""
    return free_port()


@pytest.fixture(scope="module")
def process(built: None, port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start a server with a page on another port."""
    with running_server(tmp_path_factory.mktemp("server") / "data", "--dashboard-port", str(port)) as running:
        yield running


@pytest.fixture
def page(port: int) -> Iterator[httpx.Client]:
    """Return a client of the page's port, as its scripts are."""
    with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=False, headers=PAGE) as client:
        yield client


def test_the_link_opens_the_page_on_its_port(process: Running, port: int) -> None:
    with browser(f"https://127.0.0.1:{port}") as chromium, chromium.page(process.link) as opened:
        expect(opened.get_by_role("heading", name="Overview")).to_be_visible()
        expect(opened.get_by_text("Nothing needs attention")).to_be_visible()
        assert [each["name"] for each in opened.context.cookies()] == [f"__Host-sampan-{port}"]
        assert chromium.faults == []


def test_the_port_of_the_api_leads_to_the_page(process: Running, port: int) -> None:
    reply = process.http.get("/dashboard/list/core/v1/pods?ns=default")
    assert (reply.status_code, urlsplit(reply.headers["location"]).port) == (307, port)
    assert urlsplit(reply.headers["location"]).path == "/dashboard/list/core/v1/pods"
    assert process.http.post("/dashboard/session", json={}, headers=PAGE).status_code == 405


def test_a_session_is_valid_on_the_port_of_the_page_alone(process: Running, page: httpx.Client) -> None:
    token = process.http.headers["authorization"].removeprefix("Bearer ")
    assert page.post("/dashboard/session", json={"token": token}).status_code == 201
    assert page.get("/api/v1/namespaces").status_code == 200
    with httpx.Client(base_url=process.address, verify=False, headers=PAGE, cookies=page.cookies) as same_host:
        assert same_host.get("/api/v1/namespaces").status_code in (401, 403)
