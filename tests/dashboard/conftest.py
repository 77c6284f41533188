"""The page, built if necessary, a server with it and a browser, for the tests of one file."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from scripts.web.build import build
from scripts.web.packages import CannotBuild
from scripts.web.places import ROOT

from tests.dashboard.browser import Browser, browser
from tests.dashboard.server import ADMIN, DashboardServer, dashboard_server

expect.set_options(timeout=15_000)  # also on a machine that runs other tests


@pytest.fixture(scope="session")
def built() -> None:
    """Build the page. Skip the test where that is impossible, but not in CI."""
    try:
        build(ROOT)
    except CannotBuild as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def server(built: None, request: pytest.FixtureRequest) -> Iterator[DashboardServer]:
    """Return a server with an empty cluster. A file sets `LOOPS` to run control loops."""
    with dashboard_server(getattr(request.module, "LOOPS", "none"), getattr(request.module, "NODES", 1)) as started:
        yield started


@pytest.fixture(scope="module")
def chromium(server: DashboardServer) -> Iterator[Browser]:
    """Return the browser for the tests of one file."""
    with browser(server.address) as started:
        yield started


@pytest.fixture(autouse=True)
def no_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test after which the page has violated the CSP, used another host, or had an uncaught error."""
    yield
    if "chromium" in request.fixturenames:
        found: Browser = request.getfixturevalue("chromium")
        faults, found.faults[:] = list(found.faults), []
        assert faults == []
    if "server" in request.fixturenames:
        server: DashboardServer = request.getfixturevalue("server")
        server.shell.user = ADMIN
        server.shell.replaced.clear()
        server.shell.features = []
