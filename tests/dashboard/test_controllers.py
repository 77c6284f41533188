"""Controllers of the server and of an operator: queues, failing objects, and the reconciles of an object."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect
from scripts.web.places import ROOT

from sampan.app.listen import own_address
from tests.dashboard.browser import Browser
from tests.dashboard.samples import config_map, deployment
from tests.dashboard.server import DashboardServer, picture_folder

LOOPS = "chain,gc"
LEASE: Final = "/apis/coordination.k8s.io/v1/namespaces/default/leases/boxes"
MAPS: Final = "/api/v1/namespaces/default/configmaps"


def kubeconfig_of(server: DashboardServer, path: Path) -> Path:
    """Write the kubeconfig of an administrator."""
    token = server.http.headers["authorization"].removeprefix("Bearer ")
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", "namespace": "default"}}],
        "clusters": [{"name": "c", "cluster": {"server": server.address, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "u", "user": {"token": token}}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


@contextmanager
def running_operator(
    server: DashboardServer, folder: Path, *flags: str, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run the operator next to the server until the end of the block."""
    arguments = [
        *flags,
        "--metrics-bind-address=0.0.0.0:0",
        "--health-probe-bind-address=0",
        "--log-level=warning",
    ]
    variables = {**os.environ, "KUBECONFIG": str(kubeconfig_of(server, folder / "config")), **environment}
    command = [sys.executable, "-m", "tests.dashboard.failing_operator", *arguments]
    with subprocess.Popen(command, env=variables, cwd=ROOT) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def create_pod(server: DashboardServer, name: str) -> None:
    """Create the Pod for a process on this machine."""
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
    pod["spec"] = {"nodeName": "elsewhere", "containers": [{"name": "boxes", "image": "boxes"}]}
    server.create("/api/v1/namespaces/default/pods", pod)
    address = own_address()
    status = {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]}
    server.patch(f"/api/v1/namespaces/default/pods/{name}/status", {"status": status})


@pytest.fixture(scope="module")
def operator(server: DashboardServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run the operator as the process of the Pod boxes-0, with a broken and a good object."""
    create_pod(server, "boxes-0")
    server.create("/apis/apps/v1/namespaces/default/deployments", deployment("web"))
    broken, good = config_map("broken"), config_map("good")
    for each in (broken, good):
        each["metadata"]["labels"] = {"copy": "yes"}
    server.create(MAPS, broken, good)
    with running_operator(server, tmp_path_factory.mktemp("operator"), "--leader-elect", POD_NAME="boxes-0"):
        yield


def until_reported(page: Page) -> None:
    expect(page.get_by_role("heading", name=re.compile("^boxes"))).to_be_visible(timeout=60_000)
    expect(page.get_by_role("link", name="boxes", exact=True)).to_be_visible(timeout=45_000)


@pytest.mark.usefixtures("operator")
def test_controllers_of_the_server_and_of_an_operator_are_listed(chromium: Browser) -> None:
    with chromium.page("server/controllers") as page:
        until_reported(page)
        loops = page.get_by_role("region", name="Controllers of This server")
        row = loops.get_by_role("row", name="deployment-controller")
        expect(row.get_by_role("cell", name="Deployment", exact=True)).to_be_visible()
        boxes = page.get_by_role("region", name="Controllers of boxes")
        expect(boxes.get_by_role("row", name="boxes").get_by_role("cell").nth(1)).to_have_text("1")
        page.screenshot(path=picture_folder() / "controllers-operator.png")


@pytest.mark.usefixtures("operator")
def test_a_failing_object_shows_error_attempts_and_next_try(chromium: Browser) -> None:
    with chromium.page("server/controllers") as page:
        until_reported(page)
        page.get_by_role("link", name="boxes", exact=True).click()
        expect(page.get_by_role("heading", name="boxes", level=1)).to_be_visible()
        first = page.get_by_role("region", name="Objects").get_by_role("row").nth(1)
        expect(first).to_contain_text("default/broken")
        expect(first).to_contain_text("RetryLater: the harbour is closed")
        expect(first).to_contain_text(re.compile(r"\d+ failures in a row"))
        expect(first).to_contain_text(re.compile("In 1s|In 2s|Now|Running"))
        page.screenshot(path=picture_folder() / "controller-operator.png")
        first.get_by_role("link", name="default/broken").click()
        expect(page.get_by_role("tab", name="Reconciles")).to_have_attribute("aria-selected", "true")
        attempts = page.get_by_role("tabpanel").get_by_role("listitem")
        expect(attempts.first).to_contain_text("Failed")
        expect(attempts.first).to_contain_text(re.compile(r"attempt \d+"))
        expect(attempts.first).to_contain_text("next after 2 s")
        expect(attempts.first).to_contain_text("Retry after a failure")
        page.screenshot(path=picture_folder() / "reconciles-failing.png")


@pytest.mark.usefixtures("operator")
def test_a_reconcile_links_to_the_revision_that_it_wrote(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("object/core/v1/configmaps/default/good?tab=reconciles") as page:
        panel = page.get_by_role("tabpanel")
        expect(panel.get_by_text("Success").first).to_be_visible()
        revision = server.http.get(f"{MAPS}/good").json()["metadata"]["resourceVersion"]
        link = panel.get_by_role("link", name=f"revision {revision.replace(',', '')}").first
        expect(link).to_have_attribute("href", re.compile(f"tab=history&rev={revision}"))
    with chromium.page(f"object/core/v1/configmaps/default/good?tab=history&rev={revision}") as page:
        page.get_by_role("link", name="Its reconcile").click()
        expect(page.locator(".event.wanted")).to_have_count(1)
        expect(page.get_by_text("No known reconcile has written")).to_have_count(0)
    with chromium.page("object/core/v1/configmaps/default/good?tab=reconciles&rev=1") as page:
        expect(page.get_by_text("No known reconcile has written revision 1.")).to_be_visible()


@pytest.mark.usefixtures("operator")
def test_an_object_shows_the_reconciles_of_its_owner_that_wrote_it(server: DashboardServer, chromium: Browser) -> None:
    [found] = server.http.get("/apis/apps/v1/namespaces/default/replicasets").json()["items"]
    name = found["metadata"]["name"]
    with chromium.page(f"object/apps/v1/replicasets/default/{name}") as page:
        page.get_by_role("tab", name="Reconciles").click()
        expect(page.get_by_role("heading", name="Written by reconciles of other objects")).to_be_visible()
        panel = page.get_by_role("tabpanel")
        expect(panel.get_by_text("deployment-controller").first).to_be_visible()
        expect(panel.get_by_role("link", name="default/web").first).to_be_visible()
        page.screenshot(path=picture_folder() / "reconciles-replicaset.png")


@pytest.mark.usefixtures("operator")
def test_an_object_without_reconciles_has_no_such_tab(server: DashboardServer, chromium: Browser) -> None:
    server.create(MAPS, config_map("unknown"))
    with chromium.page("list/core/v1/configmaps") as page:
        with page.expect_response(re.compile("proxy/debug/controllers.*unknown")) as response:
            page.get_by_role("link", name="unknown").click()
        response.value.finished()
        expect(page.get_by_role("tab", name="Events")).to_be_visible()
        expect(page.get_by_role("tab", name="Reconciles")).to_have_count(0)


def test_the_key_of_an_operator_is_needed(server: DashboardServer, operator: None) -> None:
    annotation = server.http.get(LEASE).json()["metadata"]["annotations"]["operator.sampan.dev/controllers"]
    port = re.findall(r'"port":(\d+)', annotation)[0]
    path = f"/api/v1/namespaces/default/pods/https:boxes-0:{port}/proxy/debug/controllers"
    assert server.http.get(path).status_code == 401
    key = re.findall(r'"key":"([^"]+)"', annotation)[0]
    assert server.http.get(path, headers={"X-Sampan-Controllers-Key": key}).status_code == 200


def press(page: Page, action: str) -> None:
    """Start an action in the tab, and confirm it in the dialog."""
    page.get_by_role("tabpanel").get_by_role("button", name=action).click()
    dialog = page.get_by_role("dialog", name=action)
    expect(dialog.get_by_text("This would change:")).to_be_visible()
    dialog.get_by_role("button", name=action).click()
    expect(dialog).to_have_count(0)


def state_of(page: Page) -> Locator:
    """Return the state of the pause in the tab."""
    return page.get_by_role("tabpanel").locator(".pause-line").get_by_role("status")


@pytest.mark.usefixtures("operator")
def test_a_user_requests_pauses_and_resumes_reconciles(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("object/core/v1/configmaps/default/good?tab=reconciles") as page:
        panel = page.get_by_role("tabpanel")
        press(page, "Reconcile now")
        expect(panel.get_by_text("Requested by a user").first).to_be_visible()
        press(page, "Pause reconciles")
        expect(state_of(page)).to_have_text(re.compile(r"Paused by system:admin for \d+s\. No reconcile runs\."))
        expect(panel.get_by_role("button", name="Reconcile now")).to_have_count(0)
        page.screenshot(path=picture_folder() / "reconciles-paused.png")
        server.patch(f"{MAPS}/good", {"data": {"copied": "no"}})
        page.get_by_role("button", name="Actions").click()
        page.get_by_role("dialog", name="Actions").get_by_role("button", name="Resume reconciles").click()
        assert server.http.get(f"{MAPS}/good").json()["data"]["copied"] == "no"
        page.get_by_role("dialog", name="Resume").get_by_role("button", name="Resume reconciles").click()
        expect(panel.get_by_text("Resumed").first).to_be_visible()
        expect(state_of(page)).to_have_text("")
    found = server.http.get(f"{MAPS}/good").json()
    assert found["data"]["copied"] == "yes"
    assert "sampan-dashboard" in [each["manager"] for each in found["metadata"]["managedFields"]]


@pytest.mark.usefixtures("operator")
def test_a_drain_waits_for_the_running_reconcile(server: DashboardServer, chromium: Browser) -> None:
    slow = config_map("slow")
    slow["metadata"]["labels"] = {"copy": "yes"}
    server.create(MAPS, slow)
    with chromium.page("object/core/v1/configmaps/default/slow?tab=reconciles") as page:
        press(page, "Pause reconciles")
        expect(state_of(page)).to_contain_text("A reconcile that began before still runs.")
        server.create(MAPS, config_map("go"))
        expect(state_of(page)).to_contain_text("No reconcile runs.")


@pytest.mark.usefixtures("operator")
def test_objects_that_only_control_loops_reconcile_cannot_be_paused(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("object/apps/v1/deployments/default/web?tab=reconciles") as page:
        expect(page.get_by_role("tabpanel").get_by_text("Success").first).to_be_visible()
        page.get_by_role("button", name="Actions").click()
        expect(page.get_by_role("button", name="Restart")).to_be_visible()
        expect(page.get_by_role("button", name="Pause reconciles")).to_have_count(0)


@pytest.mark.usefixtures("operator")
def test_an_operator_without_leader_election_is_listed_until_its_end(
    server: DashboardServer, chromium: Browser, tmp_path: Path
) -> None:
    create_pod(server, "boxes-1")
    leases = LEASE.rpartition("/")[0]
    with chromium.page("server/controllers") as page:
        heading = page.get_by_role("heading", name="boxes default · boxes-1")
        with running_operator(server, tmp_path, POD_NAME="boxes-1") as process:
            expect(heading).to_be_visible(timeout=60_000)
            section = page.locator(".reporter", has=heading)
            expect(section.get_by_role("row", name="boxes")).to_be_visible(timeout=45_000)
            process.kill()
            expect(section.get_by_text("The process does not respond.")).to_be_visible(timeout=30_000)
        server.patch(f"{leases}/boxes-reports-0", {"spec": {"renewTime": "2026-01-02T03:04:05.000000Z"}})
        expect(heading).to_have_count(0, timeout=30_000)
    with chromium.page("server/controllers") as page, running_operator(server, tmp_path):
        laptop = page.get_by_text(re.compile(r"It runs outside the cluster, on .+:\d+\. No proxy"))
        expect(laptop).to_be_visible(timeout=60_000)
    assert server.http.get(f"{leases}/boxes-reports-0").json()["spec"]["holderIdentity"] == ""
    assert server.http.get(f"{leases}/boxes-reports-1").status_code == 404
