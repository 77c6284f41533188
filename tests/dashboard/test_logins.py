"""Logins at an issuer and with a client certificate, in a browser, at a server process that trusts both."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.dashboard.browser import Browser, browser
from tests.dashboard.issuer import LoginIssuer, login_issuer
from tests.dashboard.process import Running, running_server


@pytest.fixture(scope="module")
def issuer(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoginIssuer]:
    """Run an issuer."""
    with login_issuer(tmp_path_factory.mktemp("issuer")) as running:
        yield running


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data directory of the server."""
    return tmp_path_factory.mktemp("server") / "data"


@pytest.fixture(scope="module")
def process(issuer: LoginIssuer, data: Path) -> Iterator[Running]:
    """Start a server that trusts the issuer."""
    oidc = ["--oidc-issuer-url", issuer.url, "--oidc-client-id", "sampan", "--oidc-ca-file", str(issuer.ca_file)]
    with running_server(data, *oidc, "--oidc-signing-algs", "ES256") as running:
        yield running


@pytest.fixture(scope="module")
def chromium(process: Running, issuer: LoginIssuer) -> Iterator[Browser]:
    """Return a browser for the server, which may visit the issuer."""
    with browser(process.address) as started:
        started.allowed.append(issuer.url)
        yield started


def test_a_login_at_the_issuer_returns_to_the_same_page(chromium: Browser, issuer: LoginIssuer) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default&q=app=web") as page:
        page.get_by_role("link", name="Log in with the identity provider").click()
        page.get_by_role("link", name="Continue as jane").click()
        expect(page.get_by_role("button", name=f"User: {issuer.url}#jane")).to_be_visible()
        assert page.url.endswith("list/core/v1/configmaps?ns=default&q=app=web")
        stored = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
        assert "ey" not in stored


def test_a_session_that_has_ended_continues_after_another_login_at_the_issuer(
    chromium: Browser, process: Running
) -> None:
    with chromium.page("list/core/v1/configmaps?ns=default") as page:
        page.get_by_role("link", name="Log in with the identity provider").click()
        page.get_by_role("link", name="Continue as jane").click()
        expect(page.get_by_role("button", name="User: ")).to_be_visible()
        for each in process.http.get("/dashboard/sessions").json()["items"]:
            process.http.delete(f"/dashboard/sessions/{each['id']}").raise_for_status()
        expect(page.get_by_text("The session has ended.")).to_be_visible()
        page.get_by_role("link", name="Log in with the identity provider").click()
        page.get_by_role("link", name="Continue as jane").click()
        expect(page.get_by_role("button", name="User: ")).to_be_visible()
        assert page.url.endswith("list/core/v1/configmaps?ns=default")


def test_the_certificate_of_the_browser_logs_in(chromium: Browser, process: Running, data: Path) -> None:
    pair = {"cert": (data / "pki/admin.crt").read_bytes(), "key": (data / "pki/admin.key").read_bytes()}
    with chromium.page("list/core/v1/configmaps", client_certificates=[{"origin": process.address, **pair}]) as page:
        page.get_by_role("button", name="Log in with the browser's certificate").click()
        expect(page.get_by_role("heading", name="ConfigMaps", level=1)).to_be_visible()


def test_without_a_certificate_the_login_with_one_is_not_offered(chromium: Browser) -> None:
    with chromium.page() as page:
        expect(page.get_by_role("link", name="Log in with the identity provider")).to_be_visible()
        expect(page.get_by_role("button", name="Log in with the browser's certificate")).to_have_count(0)
