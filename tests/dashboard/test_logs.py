"""Logs of Pods and workloads in the page: merged, filtered, followed, downloaded."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.dashboard.browser import Browser
from tests.dashboard.samples import HOSTILE, deployment
from tests.dashboard.server import DashboardServer
from tests.dashboard.simulated_logs import SimulatedLogs, pod
from tests.dashboard.test_pages import check_at_all_widths

PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


@pytest.fixture(autouse=True)
def stream(server: DashboardServer) -> None:
    """Let the page use the stream of the server."""
    server.shell.features = ["stream"]


@pytest.fixture
def logs(server: DashboardServer) -> Iterator[SimulatedLogs]:
    """Return the logs of Pods; all Pods are deleted afterwards."""
    yield SimulatedLogs(server)
    server.shell.replaced.clear()
    for each in server.http.get(PODS).json()["items"]:
        server.http.delete(f"{PODS}/{each['metadata']['name']}", params={"gracePeriodSeconds": "0"})


@pytest.fixture
def web(server: DashboardServer, logs: SimulatedLogs) -> Iterator[str]:
    """Return the address of a Deployment with two Pods of two containers each."""
    server.create(DEPLOYMENTS, deployment("web"))
    server.create(PODS, pod("web-a1", "main", "proxy", app="web"), pod("web-b2", "main", "proxy", app="web"))
    logs.write("web-a1", "INFO first", "ERROR third", first=0, step=20)
    logs.write("web-b2", "INFO second", "WARN fourth", first=10, step=20)
    logs.write("web-a1", "proxy of a", container="proxy", first=100)
    logs.write("web-b2", "proxy of b", container="proxy", first=200)
    yield "object/apps/v1/deployments/default/web?tab=logs"
    server.delete(f"{DEPLOYMENTS}/web")


def texts(page: Page) -> list[str]:
    """Return the texts of the visible lines."""
    return [each.strip() for each in page.locator(".log-text, .log-note").all_inner_texts()]


def lines(page: Page) -> Any:
    """Return the visible lines."""
    return page.locator(".log-line")


def test_logs_of_a_workload_are_merged_by_time(chromium: Browser, web: str) -> None:
    with chromium.page(web) as page:
        expect(lines(page)).to_have_count(6)
        assert texts(page) == ["INFO first", "INFO second", "ERROR third", "WARN fourth", "proxy of a", "proxy of b"]
        labels = page.locator(".log-line .log-source").all_inner_texts()
        assert labels == ["a1/main", "b2/main", "a1/main", "b2/main", "a1/proxy", "b2/proxy"]
        expect(page.get_by_text("4 live")).to_be_visible()


def test_a_new_pod_joins_and_a_deleted_one_is_marked(
    server: DashboardServer, chromium: Browser, web: str, logs: SimulatedLogs
) -> None:
    with chromium.page(f"{web}&container=main") as page:
        expect(lines(page)).to_have_count(4)
        logs.write("web-c3", "INFO of the new one", first=10**12)
        server.create(PODS, pod("web-c3", app="web"))
        expect(page.get_by_text("Pod web-c3 is new")).to_be_visible()
        expect(page.get_by_text("INFO of the new one")).to_be_visible()
        server.http.delete(f"{PODS}/web-a1", params={"gracePeriodSeconds": "0"})
        expect(page.get_by_text("Pod web-a1 is gone")).to_be_visible()
        expect(page.get_by_text("1 gone")).to_be_visible()
        expect(page.locator(".log-source.gone").first).to_be_visible()


def test_every_option_is_in_the_address_and_a_reload_keeps_it(chromium: Browser, web: str) -> None:
    with chromium.page(web) as page:
        expect(lines(page)).to_have_count(6)
        page.get_by_role("combobox", name="Container").select_option("main")
        page.get_by_role("combobox", name="Lowest level").select_option("warn")
        page.get_by_role("combobox", name="Since").select_option("all")
        page.get_by_role("button", name="Options").click()
        for name in ("Times", "Wrap long lines", "Colours of the program", "Previous instance"):
            page.get_by_role("checkbox", name=name).click()
        page.keyboard.press("Escape")
        page.get_by_role("searchbox", name="Find in the logs").fill("th")
        page.get_by_role("button", name="Only matches").click()
        expect(page).to_have_url(re.compile("q=th"))
        for parameter in ("container=main", "level=warn", "since=all", "previous=1", "only=1"):
            assert parameter in page.url
        for parameter in ("times=1", "wrap=0", "colours=0"):
            assert parameter in page.url
        page.reload()
        expect(lines(page)).to_have_count(2)
        assert texts(page) == ["ERROR third", "WARN fourth"]
        expect(page.locator("mark").first).to_have_text("th")


def test_options_reach_the_server(chromium: Browser, web: str, logs: SimulatedLogs) -> None:
    with chromium.page(f"{web}&container=main&pods=web-a1&previous=1&since=5m") as page:
        expect(lines(page)).to_have_count(2)
    assert logs.requests == [
        {"pod": "web-a1", "container": "main", "previous": "true", "timestamps": "true", "sinceSeconds": "300"}
    ]


def test_a_filter_highlights_or_selects_and_refuses_slow_expressions(chromium: Browser, web: str) -> None:
    with chromium.page(f"{web}&container=main") as page:
        expect(lines(page)).to_have_count(4)
        box = page.get_by_role("searchbox", name="Find in the logs")
        box.fill("/INFO (fir|sec)/")
        expect(page.locator("mark")).to_have_count(2)
        expect(lines(page)).to_have_count(4)
        page.get_by_role("button", name="Only matches").click()
        expect(lines(page)).to_have_count(2)
        expect(page.get_by_text("2 of 4 lines")).to_be_visible()
        box.fill("/(a+)+$/")
        expect(page.get_by_role("alert")).to_contain_text("could take too long")


def test_following_stops_when_one_scrolls_up_and_counts_new_lines(
    server: DashboardServer, chromium: Browser, logs: SimulatedLogs
) -> None:
    server.create(PODS, pod("long"))
    logs.write("long", *(f"line {i}" for i in range(800)))
    with chromium.page("object/core/v1/pods/default/long?tab=logs") as page:
        expect(page.get_by_text("line 799")).to_be_visible()
        page.get_by_role("log").hover()
        page.mouse.wheel(0, -4000)
        expect(page.get_by_role("button", name="Follow")).to_be_visible()
        before = texts(page)[15]
        logs.write("long", "late 1", "late 2", first=1000)
        page.get_by_role("button", name="2 new lines").click()
        expect(page.get_by_text("late 2")).to_be_visible()
        assert before not in texts(page)
        logs.write("long", "late 3", first=2000)
        expect(page.get_by_text("late 3")).to_be_visible()


def test_an_object_in_a_line_unfolds(server: DashboardServer, chromium: Browser, logs: SimulatedLogs) -> None:
    server.create(PODS, pod("json"))
    logs.write("json", '{"level":"error","msg":"no","at":{"line":7}}', "plain {text")
    with chromium.page("object/core/v1/pods/default/json?tab=logs") as page:
        page.get_by_role("button", name="Object in this line").click()
        expect(page.locator(".log-row")).to_have_count(7)
        expect(page.locator(".log-line.error")).to_have_count(1)
        page.get_by_role("button", name="Object in this line").click()
        expect(page.locator(".log-row")).to_have_count(0)


NASTY = [
    "\x1b]8;;https://evil.example\x07a link\x1b]8;;\x07",
    "\x1b]52;c;ZXZpbA==\x07clipboard",
    "\x1b]0;evil title\x07title",
    "\x1b]0;never ends",
    "\x1bP1$r0m\x1b\\device",
    "\x1b[31mred\x1b[0m and \x1b[2J\x1b[H\x9b1mbold",
    HOSTILE,
]


def test_sequences_in_logs_set_no_title_link_or_clipboard(
    server: DashboardServer, chromium: Browser, logs: SimulatedLogs
) -> None:
    server.create(PODS, pod("nasty"))
    logs.write("nasty", *NASTY)
    with chromium.page("object/core/v1/pods/default/nasty?tab=logs") as page:
        expect(lines(page)).to_have_count(len(NASTY))
        shown = texts(page)
        assert shown[:6] == ["a link", "clipboard", "title", "", "device", "red and bold"]
        assert "\u202e" not in shown[6]
        assert "<script>" in shown[6]
        assert page.locator(".log-text a, .log-text img, .log-text script").count() == 0
        assert page.locator(".a-red").inner_text() == "red"
        assert "evil" not in page.title()


def test_a_line_of_ten_megabytes_is_cut_and_the_page_stays_alive(
    server: DashboardServer, chromium: Browser, logs: SimulatedLogs
) -> None:
    server.create(PODS, pod("huge"))
    logs.write("huge", b"x" * 10_000_000, "after")
    with chromium.page("object/core/v1/pods/default/huge?tab=logs") as page:
        expect(page.get_by_text("after", exact=True)).to_be_visible()
        expect(page.get_by_text("the line is longer; a download has all of it")).to_be_visible()
        assert page.evaluate("document.body.innerText.length") < 20_000


def test_an_interrupted_stream_continues_without_lines_twice(
    server: DashboardServer, chromium: Browser, logs: SimulatedLogs
) -> None:
    server.create(PODS, pod("cut"))
    logs.write("cut", "one", "two", "two", step=0)
    with chromium.page("object/core/v1/pods/default/cut?tab=logs") as page:
        expect(lines(page)).to_have_count(3)
        logs.cut()
        logs.write("cut", "three", first=5)
        expect(page.get_by_text("three")).to_be_visible()
        assert texts(page) == ["one", "two", "two", "three"]
        assert logs.requests[-1]["sinceTime"] == "2026-01-02T03:04:05Z"


def test_a_user_without_the_right_gets_the_missing_verb(
    server: DashboardServer, chromium: Browser, logs: SimulatedLogs
) -> None:
    server.create(PODS, pod("closed"))
    status = {"kind": "Status", "code": 403, "message": 'pods "closed" is forbidden', "reason": "Forbidden"}
    server.shell.refuse(f"{PODS}/closed/log", 403, status)
    with chromium.page("object/core/v1/pods/default/closed?tab=logs") as page:
        expect(page.get_by_role("heading", name="You may not get pods/log")).to_be_visible()


def test_a_container_that_waits_shows_why(server: DashboardServer, chromium: Browser, logs: SimulatedLogs) -> None:
    server.create(PODS, pod("young"))
    status = {"kind": "Status", "code": 400, "message": 'container "main" is waiting to start: ContainerCreating'}
    server.shell.refuse(f"{PODS}/young/log", 400, status)
    with chromium.page("object/core/v1/pods/default/young?tab=logs") as page:
        expect(page.get_by_text("waiting to start: ContainerCreating").first).to_be_visible()
        logs.write("young", "started")
        expect(page.get_by_text("started", exact=True)).to_be_visible()


def test_only_twenty_pods_are_read_at_once_and_more_are_chosen(
    server: DashboardServer, chromium: Browser, logs: SimulatedLogs
) -> None:
    server.create(DEPLOYMENTS, deployment("many"))
    for i in range(23):
        server.create(PODS, pod(f"many-{i:02d}", app="many"))
        logs.write(f"many-{i:02d}", f"of {i}", first=i)
    with chromium.page("object/apps/v1/deployments/default/many?tab=logs") as page:
        expect(page.get_by_text("20 of 23 Pods")).to_be_visible()
        expect(lines(page)).to_have_count(20)
        assert logs.open == 20
        page.get_by_role("button", name="20 Pods").click()
        page.get_by_role("checkbox", name="many-03").click()
        expect(page).to_have_url(re.compile("pods=many-03"))
        expect(lines(page)).to_have_count(1)
    server.delete(f"{DEPLOYMENTS}/many")


def test_a_download_has_a_safe_name_and_the_texts(chromium: Browser, web: str) -> None:
    with chromium.page(f"{web}&container=main&q=INFO&only=1") as page:
        expect(lines(page)).to_have_count(2)
        for item, expected in (
            ("The lines shown here", "[pod/web-a1/main] INFO first\n[pod/web-b2/main] INFO second\n"),
            ("Whole logs", "INFO first\nERROR third\n"),
        ):
            page.get_by_role("button", name="Download").click()
            with page.expect_download() as started:
                page.get_by_role("menuitem", name=item).click()
            assert started.value.suggested_filename == "web.log"
            text = started.value.path().read_text()
            assert re.sub(r"(?m)^\[pod/web-a1/main\] ", "", text).startswith(expected) or text == expected


def test_a_custom_resource_that_owns_pods_has_their_logs(
    server: DashboardServer, chromium: Browser, logs: SimulatedLogs
) -> None:
    (owner,) = server.create("/apis/batch/v1/namespaces/default/cronjobs", CRON_JOB)
    reference = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": owner["metadata"]["uid"]}
    made = pod("nightly-1")
    made["metadata"]["ownerReferences"] = [reference]
    server.create(PODS, made, pod("foreign"))
    logs.write("nightly-1", "of the night")
    logs.write("foreign", "of another")
    with chromium.page("object/batch/v1/cronjobs/default/nightly?tab=logs") as page:
        expect(page.get_by_text("of the night")).to_be_visible()
        assert texts(page) == ["of the night"]
    with chromium.page("object/core/v1/namespaces/default") as page:
        expect(page.get_by_role("tab", name="YAML")).to_be_visible()
        expect(page.get_by_role("tab", name="Logs")).to_have_count(0)


CRON_JOB: Any = {
    "metadata": {"name": "nightly"},
    "spec": {
        "schedule": "0 0 * * *",
        "jobTemplate": {
            "spec": {
                "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "x:1"}]}},
            }
        },
    },
}


def test_logs_are_read_without_the_stream_of_the_server(
    server: DashboardServer, chromium: Browser, web: str, logs: SimulatedLogs
) -> None:
    server.shell.features = []
    with chromium.page(web) as page:
        expect(lines(page)).to_have_count(6)
        logs.write("web-b2", "later", first=5000)
        expect(page.get_by_text("later")).to_be_visible()
        assert texts(page)[-1] == "later"


def test_logs_are_accessible_and_fit_each_window(chromium: Browser, web: str, logs: SimulatedLogs) -> None:
    logs.write("web-a1", '{"level":"warn","msg":"slow"}', "\x1b[31mred \x1b[44mon blue", "x" * 300, first=300)
    with chromium.page(f"{web}&times=1&q=o") as page:
        expect(lines(page).first).to_be_visible()
        page.get_by_role("button", name="Object in this line").first.click()
        check_at_all_widths(page, "object-logs")
        page.get_by_role("button", name="Pods").click()
        check_at_all_widths(page, "object-logs-pods")


def test_refused_pods_are_reported(server: DashboardServer, chromium: Browser, web: str) -> None:
    server.shell.refuse(PODS, 403, {"kind": "Status", "code": 403, "message": "pods is forbidden"})
    with chromium.page(web) as page:
        expect(page.get_by_role("heading", name="You may not list pods")).to_be_visible()


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_panels_of_menus_stay_in_the_window(
    server: DashboardServer, chromium: Browser, logs: SimulatedLogs, width: int
) -> None:
    server.create(PODS, pod("alone", "main"))
    with chromium.page("object/core/v1/pods/default/alone?tab=logs", width=width) as page:
        for name in ("Options", "Download", "Actions", "Commands"):
            page.get_by_role("button", name=name, exact=True).click()
            expect(page.locator(".popover")).to_be_visible()
            box = page.locator(".popover").bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            page.keyboard.press("Escape")
