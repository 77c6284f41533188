"""The pure functions of the pages of controllers, in Chromium, from the sources."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from tests.dashboard.browser import Browser
from tests.dashboard.modules import modules_page

MODULES: Final = {"reporters": "controllers/reporters.js"}
NAME: Final = "operator.sampan.dev/controllers"
POD: Final = {"host": "boats-1", "namespace": "harbour", "pod": "boats-1", "port": 8443, "scheme": "https", "key": "k"}
LAPTOP: Final = {"host": "laptop", "port": 8443, "scheme": "https"}


@pytest.fixture(scope="module")
def page(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """Return an empty page with the modules in `page_modules`."""
    with modules_page(chromium, tmp_path_factory.mktemp("controllers"), MODULES) as opened:
        yield opened


def reporter(page: Page, place: Any, label: str = "true", age_s: int = 0, **spec: Any) -> Any:
    """Return the reporter of a Lease that was renewed `age_s` seconds ago."""
    metadata = {"name": "boats", "namespace": "harbour", "labels": {NAME: label}}
    lease: dict[str, Any] = {"metadata": {**metadata, "annotations": {NAME: json.dumps(place)}}}
    lease["spec"] = {
        "holderIdentity": "one",
        "leaseDurationSeconds": 40,
        "renewTime": "2026-01-02T03:04:05.000000Z",
        **spec,
    }
    script = "([lease, age]) => page_modules.reporters.reporterOf(lease, Date.parse(lease.spec.renewTime) + age * 1000)"
    return page.evaluate(script, [lease, age_s])


def test_a_pod_is_read_through_its_proxy_and_a_process_on_a_laptop_has_its_address(page: Page) -> None:
    found = reporter(page, POD)
    assert found["path"] == "/api/v1/namespaces/harbour/pods/https%3Aboats-1%3A8443/proxy/debug/controllers"
    assert (found["hidden"], found["headers"]) == ("", {"X-Sampan-Controllers-Key": "k"})
    found = reporter(page, LAPTOP, label="process")
    assert (found["path"], found["hidden"], found["lease"]["host"]) == ("", "outside", "laptop:8443")


@pytest.mark.parametrize("spec", [{"holderIdentity": ""}, {"holderIdentity": None}], ids=["empty", "none"])
def test_a_released_lease_of_a_process_is_not_listed(page: Page, spec: Any) -> None:
    assert reporter(page, POD, label="process", **spec) is None
    assert reporter(page, POD, **spec)["hidden"] == "no_leader"


def test_a_process_that_was_killed_is_not_listed_after_its_lease_has_ended(page: Page) -> None:
    assert reporter(page, POD, label="process", age_s=90)["hidden"] == ""
    assert reporter(page, POD, label="process", age_s=110) is None
    assert reporter(page, POD, age_s=110)["hidden"] == "no_leader"


@pytest.mark.parametrize("place", [{**POD, "namespace": "kube-system"}, {**POD, "pod": "a/../b"}, {**POD, "port": "1"}])
def test_a_lease_leads_the_page_to_no_other_place(page: Page, place: Any) -> None:
    found = reporter(page, place, label="process")
    assert (found["path"], found["headers"], found["hidden"]) == ("", {}, "outside")
