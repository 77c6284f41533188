"""The page at an earlier time: lists and objects as they were, read-only, and the way back."""

import json
import time
from datetime import UTC, datetime

from playwright.sync_api import expect

from sampan.server.request import Request, Response
from tests.dashboard.browser import Browser
from tests.dashboard.histories import CONFIG_MAPS, patch
from tests.dashboard.samples import config_map
from tests.dashboard.server import DashboardServer


def moment(server: DashboardServer) -> str:
    """Return the present time, after a pause on both sides: the page counts in whole seconds."""
    time.sleep(1.1)
    found = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    time.sleep(1.1)
    return found


def test_a_list_at_a_time_has_the_objects_of_that_time(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("early"), config_map("removed"))
    at = moment(server)
    server.delete(f"{CONFIG_MAPS}/removed")
    server.create(CONFIG_MAPS, *(config_map(f"late-{i}") for i in range(20)))
    with chromium.page(f"list/core/v1/configmaps?ns=default&at={at}") as page:
        expect(page.get_by_role("row").filter(has_text="removed")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="early")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="late-")).to_have_count(0)
        expect(page.get_by_role("region", name="The page shows the past")).to_be_visible()
        expect(page.get_by_role("button", name="Create")).to_have_count(0)
        page.get_by_role("button", name="Back to now").click()
        expect(page.get_by_role("row").filter(has_text="late-1")).not_to_have_count(0)
        expect(page.get_by_role("row").filter(has_text="removed")).to_have_count(0)
        assert "at=" not in page.url


def test_links_stay_at_the_time_and_objects_are_read_only(server: DashboardServer, chromium: Browser) -> None:
    server.create(CONFIG_MAPS, config_map("walked"))
    at = moment(server)
    patch(server, f"{CONFIG_MAPS}/walked", {"data": {"key": "newer"}})
    with chromium.page(f"list/core/v1/configmaps?ns=default&at={at}") as page:
        page.get_by_role("link", name="walked").click()
        expect(page.get_by_text("value", exact=True)).to_be_visible()
        assert f"at={at}" in page.url.replace("%3A", ":")
        for name in ("Edit", "Actions", "Commands"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)
        page.keyboard.press("e")
        expect(page.get_by_role("heading", name="Read-only: the page shows the past")).to_be_visible()
        page.go_back()
        page.get_by_role("button", name="Later change").click()
        expect(page.get_by_text("newer", exact=True)).to_be_visible()
        page.get_by_role("button", name="Earlier change").click()
        expect(page.get_by_text("value", exact=True)).to_be_visible()
        page.get_by_role("button", name="Back to now").click()
        expect(page.get_by_role("button", name="Edit")).to_be_visible()


def test_an_object_that_did_not_exist_is_explained(server: DashboardServer, chromium: Browser) -> None:
    at = moment(server)
    server.create(CONFIG_MAPS, config_map("unborn"))
    with chromium.page(f"object/core/v1/configmaps/default/unborn?at={at}") as page:
        expect(page.get_by_text("It did not exist at the time that the page shows.")).to_be_visible()


def test_a_time_that_the_server_has_removed_is_explained(server: DashboardServer, chromium: Browser) -> None:
    listed = server.http.get(CONFIG_MAPS).content

    def respond(request: Request) -> Response:
        if "sampan.dev/history" in request.wire.query:
            end = {"type": "END", "reason": "Expired", "continue": ""}
            return Response(200, json.dumps(end).encode() + b"\n", "application/x-ndjson")
        if "resourceVersionMatch" in request.wire.query:
            status = {"kind": "Status", "reason": "Expired", "code": 410, "message": "too old"}
            return Response(410, json.dumps(status).encode())
        return Response(200, listed, "application/json")

    server.shell.replaced[CONFIG_MAPS] = respond
    with chromium.page("list/core/v1/configmaps?ns=default&at=7") as page:
        expect(page.get_by_role("heading", name="The server no longer has this time")).to_be_visible()
        expect(page.get_by_text("--history-retention")).to_be_visible()
    with chromium.page("list/core/v1/configmaps?ns=default&at=2020-01-01T00:00:00Z") as page:
        expect(page.get_by_text("The history does not reach this time")).to_be_visible()


def test_the_clock_at_the_top_shows_an_earlier_time(server: DashboardServer, chromium: Browser) -> None:
    with chromium.page("list/core/v1/namespaces") as page:
        page.get_by_role("button", name="Show an earlier time").click()
        slider = page.get_by_role("slider", name="Moment that the page shows")
        slider.focus()
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_role("region", name="The page shows the past")).to_be_visible()
        page.get_by_role("button", name="Show an earlier time").click()
        expect(page.get_by_role("region", name="The page shows the past")).to_have_count(0)


def test_a_quiet_list_is_not_called_too_old_while_the_history_reaches_the_time(
    server: DashboardServer, chromium: Browser
) -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "renewed"}}
    server.create("/apis/coordination.k8s.io/v1/namespaces/default/leases", lease)
    server.create(CONFIG_MAPS, config_map("quiet"))
    at = moment(server)

    def respond(request: Request) -> Response | None:
        if "sampan.dev/history" not in request.wire.query:
            return None
        end = {"type": "END", "reason": "Expired", "continue": ""}
        return Response(200, json.dumps(end).encode() + b"\n", "application/x-ndjson")

    server.shell.replaced[CONFIG_MAPS] = respond
    with chromium.page(f"list/core/v1/configmaps?ns=default&at={at}") as page:
        expect(page.get_by_role("row").filter(has_text="quiet")).to_be_visible()
        expect(page.get_by_text("The history does not reach this time")).to_have_count(0)


def test_a_deletion_without_a_known_time_is_placed_by_the_changes_before_it(
    server: DashboardServer, chromium: Browser
) -> None:
    """As after a restart: the server has the users and times of recent writes only."""
    server.create(CONFIG_MAPS, config_map("there-then"))
    at = moment(server)
    server.create(CONFIG_MAPS, config_map("created-later"))
    server.delete(f"{CONFIG_MAPS}/there-then")
    changes = server.http.get(f"{CONFIG_MAPS}?sampan.dev/history=changes").text.splitlines()

    def respond(request: Request) -> Response | None:
        before = int(request.wire.param("sampan.dev/before") or 1 << 40)
        if "sampan.dev/history" not in request.wire.query:
            return None
        written = [json.loads(each) for each in changes[:-1]]
        found = [each for each in written if int(each["resourceVersion"]) < before][: int(request.wire.param("limit"))]
        lines = [each | ({"time": None} if each["type"] == "DELETED" else {}) for each in found]
        end = {"type": "END", "reason": "Limit" if lines else "Created", "continue": ""}
        text = "\n".join(json.dumps(each) for each in [*lines, end])
        return Response(200, text.encode() + b"\n", "application/x-ndjson")

    server.shell.replaced[CONFIG_MAPS] = respond
    with chromium.page(f"list/core/v1/configmaps?ns=default&at={at}") as page:
        expect(page.get_by_role("row").filter(has_text="there-then")).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="created-later")).to_have_count(0)


def test_a_change_without_a_time_does_not_show_that_the_history_reaches_a_moment(
    server: DashboardServer, chromium: Browser
) -> None:
    (timeless,) = server.create(CONFIG_MAPS, config_map("timeless"))

    def respond(request: Request) -> Response | None:
        if "sampan.dev/history" not in request.wire.query:
            return None
        revision = timeless["metadata"]["resourceVersion"]
        change = {"type": "MODIFIED", "resourceVersion": revision, "time": None, "object": timeless}
        before = int(request.wire.param("sampan.dev/before") or 1 << 40)
        lines = [change] if int(revision) < before else []
        end = {"type": "END", "reason": "Expired", "continue": ""}
        text = "\n".join(json.dumps(each) for each in [*lines, end])
        return Response(200, text.encode() + b"\n", "application/x-ndjson")

    server.shell.replaced[CONFIG_MAPS] = respond
    with chromium.page("list/core/v1/configmaps?ns=default&at=2020-01-01T00:00:00Z") as page:
        expect(page.get_by_text("The history does not reach this time")).to_be_visible()
