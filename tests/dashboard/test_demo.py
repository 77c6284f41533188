"""The end of `make demo` on the page of `sampan up`: find the change that broke a Deployment, and undo it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from playwright.sync_api import Page, expect
from scripts.web.places import ROOT

from tests.dashboard.browser import Browser, browser
from tests.dashboard.process import Running, running_server

DEPLOYMENT: Final = "/apis/apps/v1/namespaces/default/deployments/portal"
BROKEN: Final = "registry.invalid/portal:1.1"
WAIT_MS: Final = 60_000


@pytest.fixture(scope="module")
def process(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Start `sampan up` with a new data directory."""
    with running_server(tmp_path_factory.mktemp("server") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def chromium(process: Running) -> Iterator[Browser]:
    """Return a browser for the server process."""
    with browser(process.address) as started:
        yield started


def patched_portal(process: Running, change: dict[str, Any], manager: str) -> None:
    """Change the Deployment as a manager."""
    headers = {"content-type": "application/strategic-merge-patch+json"}
    process.http.patch(f"{DEPLOYMENT}?fieldManager={manager}", json=change, headers=headers).raise_for_status()


def replicas_of(process: Running) -> Any:
    """Return the number of available replicas; None if there is none."""
    return process.http.get(DEPLOYMENT).json().get("status", {}).get("availableReplicas")


def break_portal(process: Running, page: Page) -> None:
    """Run the Deployment of the demo, label it, and then change its image to one that cannot be pulled."""
    manifest = yaml.safe_load(Path(ROOT / "examples/01-network/portal.yaml").read_text())
    folder = DEPLOYMENT.removesuffix("/portal")
    process.http.post(f"{folder}?fieldManager=kubectl-create", json=manifest).raise_for_status()
    for _ in range(600):
        if replicas_of(process) == 2:
            break
        page.wait_for_timeout(100)
    assert replicas_of(process) == 2
    page.wait_for_timeout(1000)  # times have no fractions of seconds: the update comes after the creation
    containers = [{"name": "portal", "image": BROKEN}]
    patched_portal(process, {"spec": {"template": {"spec": {"containers": containers}}}}, "kubectl-patch")
    patched_portal(process, {"metadata": {"labels": {"team": "a"}}}, "kubectl-label")


def test_four_clicks_lead_from_the_overview_to_the_repair(process: Running, chromium: Browser) -> None:
    with chromium.page(process.link) as page:
        break_portal(process, page)
        page.get_by_role("link", name="Deployment portal").first.click()
        expect(page.get_by_text("ImagePullBackOff").first).to_be_visible(timeout=WAIT_MS)
        page.get_by_role("link", name="What changed before this?").click()
        change = page.locator(".suspect", has_text=BROKEN)
        expect(change).to_contain_text("kubectl-patch")
        expect(page.locator(".suspects")).not_to_contain_text("sampan-loops")
        change.get_by_role("button", name="Undo this change").click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_role("radio", name="Take over")).to_be_checked()
        dialog.get_by_role("button", name="Undo this change").click()
        expect(dialog).to_have_count(0)
        expect(page.get_by_text("No problem now")).to_be_visible(timeout=WAIT_MS)
    found = process.http.get(DEPLOYMENT).json()
    assert found["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example/portal:1.0"
    assert found["metadata"]["labels"]["team"] == "a"
    assert found["metadata"]["annotations"]["deployment.kubernetes.io/revision"] == "3"
