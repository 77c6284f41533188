"""Saving: a server-side apply of what has changed, conflicts by field, and what others changed meanwhile."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sampan.server.request import UserInfo
from tests.dashboard.browser import Browser
from tests.dashboard.editing import SHIPS, create_ships, editor, line, replace_in_line, ship
from tests.dashboard.samples import HOSTILE
from tests.dashboard.server import DashboardServer
from tests.dashboard.test_pages import check_at_all_widths
from tests.dashboard.webhook import configuration, webhook

WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


def stamp(request: dict[str, Any]) -> dict[str, Any]:
    """Label ships in Leith."""
    if request["object"]["spec"].get("port") != "Leith":
        return {"allowed": True}
    patch = [{"op": "add", "path": "/metadata/labels", "value": {"landing": "leith"}}]
    return {"allowed": True, "patchType": "JSONPatch", "patch": base64.b64encode(json.dumps(patch).encode()).decode()}


@pytest.fixture(scope="module", autouse=True)
def objects(server: DashboardServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    create_ships(server)
    with webhook(tmp_path_factory.mktemp("webhook"), stamp) as client:
        server.create(
            WEBHOOKS, configuration("Mutating", "stamp.example.com", client, ["ships"], "harbour.example.com")
        )
        yield


def edit_address(name: str) -> str:
    return f"edit/harbour.example.com/v1/ships/default/{name}"


def review(page: Page) -> None:
    """Open the dialog before saving."""
    page.get_by_role("button", name="Review and save").click()
    expect(page.get_by_role("dialog", name="Review and save")).to_be_visible()


def save(page: Page) -> None:
    """Save, and wait until that is done."""
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()


def compared(page: Page, text: str) -> list[str]:
    """Return the cells of the first line of the comparison with a text."""
    row = page.get_by_role("region", name="Comparison").get_by_role("row").filter(has_text=text).first
    expect(row).to_be_visible()
    return [each.strip() for each in row.get_by_role("cell").all_inner_texts()]


def stored(server: DashboardServer, name: str) -> dict[str, Any]:
    found: dict[str, Any] = server.http.get(f"{SHIPS}/{name}").json()
    return found


def fields_of(obj: dict[str, Any], manager: str) -> Any:
    """Return the fields that a manager has applied."""
    entries = [each for each in obj["metadata"]["managedFields"] if each["manager"] == manager]
    return entries[0]["fieldsV1"] if entries else None


def test_only_the_changed_field_is_applied_and_comments_stay(server: DashboardServer, chromium: Browser) -> None:
    server.create(SHIPS, ship("calm", masts=3, crew=[{"name": "Ada", "role": "cook"}]))
    with chromium.page(edit_address("calm")) as page:
        replace_in_line(page, "size: 12", "size: 12 # measured at the keel\n  # a new field\n  port: Hull")
        review(page)
        assert compared(page, "port")[2:] == ["port: Hull", "You"]
        save(page)
        expect(line(page, "# measured at the keel")).to_be_visible()
        expect(line(page, "# a new field")).to_be_visible()
        names = [each.strip().partition(":")[0] for each in editor(page).inner_text().split("\n")]
        assert names.index("size") < names.index("port") < names.index("masts") < names.index("crew")
    assert stored(server, "calm")["spec"]["port"] == "Hull"
    assert fields_of(stored(server, "calm"), "sampan-dashboard") == {"f:spec": {"f:port": {}}}


def test_a_second_save_keeps_what_the_first_one_applied(server: DashboardServer, chromium: Browser) -> None:
    server.create(SHIPS, ship("twice"))
    with chromium.page(edit_address("twice")) as page:
        replace_in_line(page, "size: 12", "size: 12\n  port: Hull")
        review(page)
        save(page)
        replace_in_line(page, "port: Hull", "port: Hull\n  colour: red")
        review(page)
        save(page)
    spec = stored(server, "twice")["spec"]
    assert (spec["port"], spec["colour"]) == ("Hull", "red")


def test_a_conflict_on_one_field_is_left_and_the_other_is_taken_over(
    server: DashboardServer, chromium: Browser
) -> None:
    server.create(SHIPS, ship("disputed", masts=3, port="Hull"))
    with chromium.page(edit_address("disputed")) as page:
        replace_in_line(page, "masts: 3", "masts: 4")
        replace_in_line(page, "port: Hull", "port: Leith")
        review(page)
        expect(page.get_by_text("Other managers own 2 of the fields")).to_be_visible()
        masts = page.get_by_role("group", name="spec.masts")
        expect(masts).to_contain_text("is owned by python-httpx")
        expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        masts.get_by_text("Take over").click()
        page.get_by_role("group", name="spec.port").get_by_text("Leave as it is").click()
        assert compared(page, "masts") == ["masts: 3", "masts: 4", "masts: 4", "You"]
        assert compared(page, "port") == ["port: Hull", "port: Leith", "port: Hull", "Left to python-httpx"]
        save(page)
        expect(line(page, "port: Hull")).to_be_visible()
    spec = stored(server, "disputed")["spec"]
    assert (spec["masts"], spec["port"]) == (4, "Hull")
    assert fields_of(stored(server, "disputed"), "sampan-dashboard") == {"f:spec": {"f:masts": {}}}


def test_a_removed_label_that_a_webhook_adds_again_stays_in_the_review(
    server: DashboardServer, chromium: Browser
) -> None:
    server.create(SHIPS, ship("landed", port="Leith"))
    with chromium.page(edit_address("landed")) as page:
        replace_in_line(page, "landing: leith", "mine: x")
        replace_in_line(page, "size: 12", "size: 12\n  colour: red")
        review(page)
        before, _, after, cause = compared(page, "landing")
        assert (before, after, cause) == ("landing: leith", "landing: leith", "Webhook stamp.example.com")
        save(page)
    assert stored(server, "landed")["metadata"]["labels"] == {"landing": "leith"}


def test_the_review_is_accessible_and_fits_each_window(server: DashboardServer, chromium: Browser) -> None:
    server.create(SHIPS, ship("reviewed", masts=3, port="Hull"))
    with chromium.page(edit_address("reviewed")) as page:
        replace_in_line(page, "masts: 3", "masts: 4")
        replace_in_line(page, "port: Hull", f"port: {json.dumps(HOSTILE)}")
        review(page)
        page.get_by_role("button", name="Take over all").click()
        compared(page, "masts")
        check_at_all_widths(page, "edit-review", "dialog")
        assert page.locator("img[src], main script").count() == 0


def test_removed_fields_and_items_are_removed(server: DashboardServer, chromium: Browser) -> None:
    crew = [{"name": "Ada", "role": "cook"}, {"name": "Bo"}, {"name": "Cy"}]
    server.create(SHIPS, ship("lean", port="Hull", crew=crew))
    with chromium.page(edit_address("lean")) as page:
        for text in ("port: Hull", "- name: Bo"):
            line(page, text).click()
            page.keyboard.press("Control+Shift+k")
        review(page)
        assert compared(page, "Bo")[0] == "- name: Bo"
        save(page)
    spec = stored(server, "lean")["spec"]
    assert "port" not in spec
    assert [each["name"] for each in spec["crew"]] == ["Ada", "Cy"]


def test_a_label_of_a_webhook_is_attributed_to_it(server: DashboardServer, chromium: Browser) -> None:
    server.create(SHIPS, ship("stamped"))
    with chromium.page(edit_address("stamped")) as page:
        replace_in_line(page, "size: 12", "size: 12\n  port: Leith")
        review(page)
        assert compared(page, "port")[3] == "You"
        assert compared(page, "landing")[2:] == ["landing: leith", "Webhook stamp.example.com"]
        save(page)
        expect(line(page, "landing: leith")).to_be_visible()


def test_a_default_is_attributed_to_the_server(server: DashboardServer, chromium: Browser) -> None:
    server.create(SHIPS, ship("plain", masts=3))
    with chromium.page(edit_address("plain")) as page:
        line(page, "masts: 3").click()
        page.keyboard.press("Control+Shift+k")
        review(page)
        assert compared(page, "masts")[2:] == ["masts: 2", "Default"]


def test_the_right_to_trace_is_named_if_it_is_missing(server: DashboardServer, chromium: Browser) -> None:
    server.create(SHIPS, ship("untraced"))
    rules = [{"apiGroups": ["harbour.example.com"], "resources": ["ships"], "verbs": ["get", "list", "watch", "patch"]}]
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    server.create(f"{rbac}/clusterroles", {"metadata": {"name": "shipper"}, "rules": rules})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "shipper"}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "shipper"}
    binding = {"metadata": {"name": "shipper"}, "roleRef": role, "subjects": [subject]}
    server.create(f"{rbac}/clusterrolebindings", binding)
    server.shell.user = UserInfo("shipper", groups=("system:authenticated",))
    with chromium.page(edit_address("untraced")) as page:
        replace_in_line(page, "size: 12", "size: 12\n  port: Hull")
        expect(page.get_by_text("The server accepts this")).to_be_visible()
        review(page)
        expect(page.get_by_text("Without the right to trace requests")).to_be_visible()
        save(page)
    assert stored(server, "untraced")["spec"]["port"] == "Hull"


def test_what_another_client_changed_meanwhile_is_attributed_and_stays(
    server: DashboardServer, chromium: Browser
) -> None:
    server.create(SHIPS, ship("shared", masts=3))
    with chromium.page(edit_address("shared")) as page:
        replace_in_line(page, "size: 12", "size: 12\n  port: Hull")
        server.http.patch(
            f"{SHIPS}/shared",
            params={"fieldManager": "shipyard"},
            json={"spec": {"masts": 5}},
            headers={"Content-Type": "application/merge-patch+json"},
        ).raise_for_status()
        review(page)
        assert compared(page, "masts") == ["masts: 5", "masts: 3", "masts: 5", "Meanwhile by shipyard"]
        save(page)
        expect(line(page, "masts: 5")).to_be_visible()
    spec = stored(server, "shared")["spec"]
    assert (spec["masts"], spec["port"]) == (5, "Hull")


def test_a_deletion_meanwhile_is_shown_and_the_text_stays(server: DashboardServer, chromium: Browser) -> None:
    server.create(SHIPS, ship("sunk"))
    with chromium.page(edit_address("sunk")) as page:
        replace_in_line(page, "size: 12", "size: 9")
        server.delete(f"{SHIPS}/sunk")
        expect(page.get_by_role("status").filter(has_text="has been deleted meanwhile")).to_be_visible()
        expect(page.get_by_role("button", name="Review and save")).to_be_disabled()
        expect(line(page, "size: 9")).to_be_visible()
        page.get_by_role("link", name="Find it among the deleted ones").click()
        expect(page.get_by_role("button", name="Restore sunk")).to_be_visible()
