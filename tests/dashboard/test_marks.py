"""Actions on several objects of a list, and exports of what it shows."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.samples import config_map, deployment
from tests.dashboard.server import DashboardServer
from tests.dashboard.test_pages import check_at_all_widths

MANY = "/api/v1/namespaces/many/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/many/deployments"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
LIST = "list/core/v1/configmaps?ns=many"


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer) -> None:
    server.create("/api/v1/namespaces", {"metadata": {"name": "many"}})
    server.create(DEPLOYMENTS, deployment("web"), deployment("api"), deployment("other"))
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["DELETE"]}
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "!oldObject.metadata.name.startsWith('kept')", "message": "this one is kept"}],
    }
    server.create(POLICIES, {"metadata": {"name": "kept"}, "spec": spec})
    binding = {"metadata": {"name": "kept"}, "spec": {"policyName": "kept", "validationActions": ["Deny"]}}
    server.create(BINDINGS, binding)


def names(server: DashboardServer, path: str = MANY) -> set[str]:
    return {each["metadata"]["name"] for each in server.http.get(path).json()["items"]}


def mark(page: Page, *of: str) -> None:
    page.get_by_role("button", name="Select", exact=True).click()
    for name in of:
        page.get_by_role("checkbox", name=f"Mark {name}", exact=True).click()


def test_of_50_deletions_two_are_refused_and_explained(server: DashboardServer, chromium: Browser) -> None:
    server.create(MANY, *(config_map(f"gone-{i}") for i in range(48)), config_map("kept-1"), config_map("kept-2"))
    while server.http.delete(f"{MANY}/kept-1?dryRun=All").status_code != 422:
        continue  # the policy begins soon after its creation
    with chromium.page(f"{LIST}&q=-kube") as page:
        mark(page)
        page.get_by_role("checkbox", name="All shown").check()
        expect(page.get_by_text("50 marked")).to_be_visible()
        page.get_by_role("button", name="Delete", exact=True).click()
        dialog = page.get_by_role("dialog", name="Delete")
        expect(dialog.get_by_text("The server accepts 48, and refuses 2")).to_be_visible()
        expect(dialog.get_by_text("this one is kept")).to_have_count(2)
        assert {"gone-0", "kept-1"} <= names(server)
        dialog.get_by_role("button", name="Delete (48)").click()
        expect(dialog.get_by_text("48 are done, 2 are not")).to_be_visible()
        assert names(server) & {f"gone-{i}" for i in range(48)} == set()
        dialog.get_by_role("button", name="Close").last.click()
        expect(page.get_by_text("2 marked")).to_be_visible()
        expect(page.locator(".grid-body .cell-name")).to_have_text(["kept-1", "kept-2"])


def test_rows_are_marked_and_labelled_by_keyboard_alone(server: DashboardServer, chromium: Browser) -> None:
    server.create(MANY, config_map("one"), config_map("two"))
    with chromium.page(f"{LIST}&q=/^(one|two)$/") as page:
        expect(page.get_by_role("row", name="two")).to_be_visible()
        for key in ("g", "x", "j", "x"):
            page.keyboard.press(key)
        expect(page.get_by_text("2 marked")).to_be_visible()
        page.get_by_role("button", name="Label", exact=True).press("Enter")
        page.get_by_label("key=value sets it").fill("team=harbour")
        expect(page.get_by_text("The server accepts 2, and refuses 0")).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.get_by_text("2 are done")).to_be_visible()
    for name in ("one", "two"):
        assert server.http.get(f"{MANY}/{name}").json()["metadata"]["labels"] == {"team": "harbour"}


def test_marked_deployments_are_scaled_and_restarted(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("list/apps/v1/deployments?ns=many") as page:
        mark(page, "web", "api")
        page.get_by_role("button", name="Scale", exact=True).click()
        page.get_by_label("Replicas").fill("5")
        page.get_by_role("button", name="Scale (2)").click()
        expect(page.get_by_text("2 are done")).to_be_visible()
        page.keyboard.press("Escape")
        page.get_by_role("checkbox", name="Mark other").click()
        page.get_by_role("button", name="Restart", exact=True).click()
        page.get_by_role("button", name="Restart (1)").click()
        expect(page.get_by_text("One is done")).to_be_visible()
    found = {each["metadata"]["name"]: each["spec"] for each in server.http.get(DEPLOYMENTS).json()["items"]}
    assert {name: spec["replicas"] for name, spec in found.items()} == {"web": 5, "api": 5, "other": 2}
    restarted = [name for name, spec in found.items() if "annotations" in spec["template"]["metadata"]]
    assert restarted == ["other"]


def exported(page: Page, form: str, folder: Path) -> str:
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=form).click()
    target = folder / download.value.suggested_filename
    download.value.save_as(target)
    return target.read_text()


def test_what_a_list_shows_is_exported(server: DashboardServer, chromium: Browser, tmp_path: Path) -> None:
    server.create(MANY, config_map("shown-a"), config_map("shown-b", annotations={"x": "=1+1"}))
    with chromium.page(f"{LIST}&q=shown") as page:
        expect(page.locator(".grid-body .row")).to_have_count(2)
        rows = list(csv.reader(exported(page, "CSV", tmp_path).splitlines()))
        assert [row[:2] for row in rows] == [["Name", "Data"], ["shown-a", "1"], ["shown-b", "1"]]
        for text in (exported(page, "YAML", tmp_path), exported(page, "JSON", tmp_path)):
            found: dict[str, Any] = yaml.safe_load(text)
            assert [each["metadata"]["name"] for each in found["items"]] == ["shown-a", "shown-b"]
            assert found["items"][0]["kind"] == "ConfigMap"
            assert "managedFields" not in found["items"][0]["metadata"]
        page.get_by_role("button", name="Select", exact=True).click()
        page.get_by_role("checkbox", name="Mark shown-b").click()
        one = json.loads(exported(page, "JSON", tmp_path))
        assert [each["metadata"]["name"] for each in one["items"]] == ["shown-b"]


def test_an_export_of_secrets_has_no_values(server: DashboardServer, chromium: Browser, tmp_path: Path) -> None:
    secret = {"metadata": {"name": "login"}, "data": {"password": "aHVudGVyMg=="}}
    server.create("/api/v1/namespaces/many/secrets", secret)
    with chromium.page("list/core/v1/secrets?ns=many") as page:
        expect(page.get_by_role("row", name="login")).to_be_visible()
        assert "aHVudGVyMg" not in exported(page, "YAML", tmp_path)


def test_keys_open_the_tabs_of_the_chosen_row(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("list/apps/v1/deployments?ns=many") as page:
        expect(page.get_by_role("row", name="web")).to_be_visible()
        for key, tab in (("y", "YAML"), ("l", "Logs"), ("v", "Events")):
            page.keyboard.press("g")
            page.keyboard.press(key)
            expect(page.get_by_role("tab", selected=True)).to_contain_text(tab)
            page.keyboard.press("Escape")
            expect(page.get_by_role("grid")).to_be_visible()


def test_marked_rows_and_their_dialog_are_usable_at_all_widths(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("list/apps/v1/deployments?ns=many") as page:
        mark(page)
        page.get_by_role("checkbox", name="All shown").check()
        check_at_all_widths(page, "marks")
        page.get_by_role("button", name="Label", exact=True).click()
        expect(page.get_by_role("dialog", name="Label")).to_be_visible()
        check_at_all_widths(page, "marks-dialog")
