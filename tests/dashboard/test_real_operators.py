"""The page of `sampan up`: the reconciles of an operator in a Pod, read with the session of a link."""

import re
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from scripts.web.places import ROOT

from tests.dashboard.browser import Browser, browser
from tests.dashboard.process import Running, logged_in, running_server
from tests.dashboard.samples import config_map
from tests.dashboard.test_controllers import press, state_of, until_reported
from tests.dashboard.test_terminal import create

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
ARGUMENTS = [
    "--leader-elect",
    "--metrics-bind-address=0.0.0.0:0",
    "--health-probe-bind-address=0",
    "--log-level=warning",
]
OPERATOR = {
    "name": "operator",
    "image": "operator",
    "command": [sys.executable, "-m", "tests.dashboard.failing_operator", *ARGUMENTS],
    "workingDir": str(ROOT),
}


@pytest.fixture(scope="module")
def process(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start a server with a node of processes, and the operator in a Pod, with a broken and a good object."""
    data = tmp_path_factory.mktemp("server") / "data"
    with running_server(data, "--nodes", "1", "--node-runtime", "process") as running:
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
        subject = {"kind": "ServiceAccount", "name": "default", "namespace": "default"}
        binding = {"metadata": {"name": "operator"}, "roleRef": role, "subjects": [subject]}
        running.http.post(BINDINGS, json=binding).raise_for_status()
        for name in ("broken", "good"):
            made = config_map(name)
            made["metadata"]["labels"] = {"copy": "yes"}
            running.http.post(CONFIG_MAPS, json=made).raise_for_status()
        create(running, "operator", automountServiceAccountToken=True, containers=[OPERATOR])
        yield running


@pytest.fixture(scope="module")
def chromium(process: Running) -> Iterator[Browser]:
    """Return a browser for the server process."""
    with browser(process.address) as started:
        yield started


@pytest.fixture(scope="module")
def page(process: Running, chromium: Browser) -> Iterator[Page]:
    """Return a page that the one-time link has logged in."""
    with logged_in(chromium, process) as opened:
        yield opened


def test_the_controllers_of_a_pod_are_listed(page: Page, process: Running, chromium: Browser) -> None:
    page.goto(f"{process.address}/dashboard/server/controllers")
    until_reported(page)
    boxes = page.get_by_role("region", name="Controllers of boxes")
    expect(boxes.get_by_role("row", name="boxes").get_by_role("cell").nth(1)).to_have_text("1")
    page.get_by_role("link", name="boxes", exact=True).click()
    broken = page.get_by_role("region", name="Objects").get_by_role("row", name="default/broken")
    expect(broken).to_contain_text("RetryLater: the harbour is closed")
    expect(broken).to_contain_text(re.compile(r"\d+ failures? in a row"))
    assert chromium.faults == []


def test_a_session_requests_pauses_and_resumes_reconciles(page: Page, process: Running, chromium: Browser) -> None:
    page.goto(f"{process.address}/dashboard/object/core/v1/configmaps/default/good?tab=reconciles")
    panel = page.get_by_role("tabpanel")
    expect(panel.get_by_text("Success").first).to_be_visible()
    press(page, "Reconcile now")
    expect(panel.get_by_text("Requested by a user").first).to_be_visible()
    press(page, "Pause reconciles")
    expect(state_of(page)).to_have_text(re.compile(r"Paused by admin for \d+s\. No reconcile runs\."))
    process.http.patch(
        f"{CONFIG_MAPS}/good",
        json={"data": {"copied": "no"}},
        headers={"Content-Type": "application/merge-patch+json"},
    ).raise_for_status()
    press(page, "Resume reconciles")
    expect(panel.get_by_text("Resumed").first).to_be_visible()
    assert process.http.get(f"{CONFIG_MAPS}/good").json()["data"]["copied"] == "yes"
    assert chromium.faults == []
